"""The web side of the shop."""

from http.server import BaseHTTPRequestHandler, HTTPServer


class Shop(BaseHTTPRequestHandler):
    """Answers visitors."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"Welcome to the teahouse.\n")


def serve(host: str, port: int) -> None:
    """Serves until it is stopped."""
    HTTPServer((host, port), Shop).serve_forever()
