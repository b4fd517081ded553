//! Messages with the call that each asks for.

use serde_json::{Value, json};

type Cases = Vec<(&'static str, &'static str, Value)>;

pub(super) fn tuned() -> Cases {
    vec![
        ("Show me the contents of README.md", "file_read", json!({"path": "README.md"})),
        ("What is in config/app.toml?", "file_read", json!({"path": "config/app.toml"})),
        ("Read lines 10 to 20 of src/main.rs", "file_read", json!({"path": "src/main.rs", "offset": 10, "limit": 11})),
        ("Print the first 5 lines of 'data/users.csv'", "file_read", json!({"path": "data/users.csv", "limit": 5})),
        (
            "Open docs/guide.md with line numbers, please",
            "file_read",
            json!({"path": "docs/guide.md", "line_numbers": true}),
        ),
        ("Zeig mir den Inhalt der Datei notes.txt", "file_read", json!({"path": "notes.txt"})),
        ("Run `ls -la`", "shell_exec", json!({"command": "ls -la"})),
        ("Execute the command df -h and tell me the result", "shell_exec", json!({"command": "df -h"})),
        ("What is the output of uname -a?", "shell_exec", json!({"command": "uname -a"})),
        ("What is today's date?", "shell_exec", json!({"command": "date"})),
        ("Please run git status in the terminal.", "shell_exec", json!({"command": "git status"})),
        ("Fetch https://example.com/api/status", "http_request", json!({"url": "https://example.com/api/status"})),
        ("Check whether https://example.org is up", "http_request", json!({"url": "https://example.org"})),
        (
            "Send a POST request to https://api.example.com/items with body {\"name\": \"pen\"}",
            "http_request",
            json!({"url": "https://api.example.com/items", "method": "POST", "body": "{\"name\": \"pen\"}"}),
        ),
        (
            "GET https://api.example.com/me with header Authorization: Bearer abc123",
            "http_request",
            json!({"url": "https://api.example.com/me", "method": "GET", "headers": {"Authorization": "Bearer abc123"}}),
        ),
        ("Write \"hello world\" to notes.txt", "file_write", json!({"path": "notes.txt", "content": "hello world"})),
        (
            "Save the text 'buy milk' in lists/todo.md",
            "file_write",
            json!({"path": "lists/todo.md", "content": "buy milk"}),
        ),
        (
            "Create a file called hello.txt containing Hello there",
            "file_write",
            json!({"path": "hello.txt", "content": "Hello there"}),
        ),
        (
            "Store this in notes/a.txt: one, two and three.",
            "file_write",
            json!({"path": "notes/a.txt", "content": "one, two and three."}),
        ),
        (
            "Replace \"foo\" with \"bar\" in config.yml",
            "file_edit",
            json!({"path": "config.yml", "old_str": "foo", "new_str": "bar"}),
        ),
        (
            "In src/app.py change `debug = True` to `debug = False`",
            "file_edit",
            json!({"path": "src/app.py", "old_str": "debug = True", "new_str": "debug = False"}),
        ),
        (
            "Fix the typo 'teh' -> 'the' in README.md",
            "file_edit",
            json!({"path": "README.md", "old_str": "teh", "new_str": "the"}),
        ),
        (
            "Change port: 8080 to port: 9090 in server.yml",
            "file_edit",
            json!({"path": "server.yml", "old_str": "port: 8080", "new_str": "port: 9090"}),
        ),
        ("Search for TODO in the src folder", "code_search", json!({"pattern": "TODO", "path": "src"})),
        (
            "Find all occurrences of 'parse_config' in .rs files",
            "code_search",
            json!({"pattern": "parse_config", "extension": "rs"}),
        ),
        ("Where is `UserService` defined?", "code_search", json!({"pattern": "UserService"})),
        ("Which files mention deprecated_api?", "code_search", json!({"pattern": "deprecated_api"})),
        ("Suche nach 'Rechnung' im Ordner lib", "code_search", json!({"pattern": "Rechnung", "path": "lib"})),
        ("What framework does this project use?", "project_info", json!({})),
        ("Give me an overview of the project, 3 levels deep", "project_info", json!({"depth": 3})),
        ("Which packages are installed?", "project_info", json!({})),
        ("SELECT count(*) FROM users", "db_query", json!({"sql": "SELECT count(*) FROM users"})),
        (
            "Run this SQL: SELECT name FROM products WHERE price > 10;",
            "db_query",
            json!({"sql": "SELECT name FROM products WHERE price > 10;"}),
        ),
        ("How many rows are in the orders table?", "db_query", json!({"sql": "SELECT COUNT(*) FROM orders"})),
        (
            "Zip the folder dist into release-1",
            "zip_package",
            json!({"source_dir": "dist", "output_name": "release-1"}),
        ),
        (
            "Create a zip archive named backup of the src directory",
            "zip_package",
            json!({"source_dir": "src", "output_name": "backup"}),
        ),
        (
            "Compress docs/ as docs-archive",
            "zip_package",
            json!({"source_dir": "docs/", "output_name": "docs-archive"}),
        ),
    ]
}

pub(super) fn held_out() -> Cases {
    vec![
        ("Could you open package.json and tell me what it says?", "file_read", json!({"path": "package.json"})),
        ("Summarise docs/architecture.md for me", "file_read", json!({"path": "docs/architecture.md"})),
        (
            "I'd like to see lines 40-60 of lib/parser.py",
            "file_read",
            json!({"path": "lib/parser.py", "offset": 40, "limit": 21}),
        ),
        (
            "Show 20 lines of server.log starting at line 100",
            "file_read",
            json!({"path": "server.log", "offset": 100, "limit": 20}),
        ),
        ("Affiche le contenu du fichier src/index.js", "file_read", json!({"path": "src/index.js"})),
        ("Muéstrame el archivo config.json", "file_read", json!({"path": "config.json"})),
        ("cat LICENSE", "shell_exec", json!({"command": "cat LICENSE"})),
        ("Execute \"uptime\" on the server", "shell_exec", json!({"command": "uptime"})),
        ("Run the shell command wc -l src/lib.rs", "shell_exec", json!({"command": "wc -l src/lib.rs"})),
        ("Which user am I running as?", "shell_exec", json!({"command": "whoami"})),
        ("How much disk space is left on this machine?", "shell_exec", json!({"command": "df -h"})),
        ("Führe den Befehl `date` aus", "shell_exec", json!({"command": "date"})),
        (
            "Download https://example.com/data.json for me",
            "http_request",
            json!({"url": "https://example.com/data.json"}),
        ),
        (
            "What does the page at https://example.net/about return?",
            "http_request",
            json!({"url": "https://example.net/about"}),
        ),
        (
            "POST '{\"ok\":true}' to https://hooks.example.com/x",
            "http_request",
            json!({"url": "https://hooks.example.com/x", "method": "POST", "body": "{\"ok\":true}"}),
        ),
        (
            "Call the endpoint https://api.example.com/v1/users with the header X-Token: 42",
            "http_request",
            json!({"url": "https://api.example.com/v1/users", "headers": {"X-Token": "42"}}),
        ),
        (
            "Put 'version=2' into build/version.txt",
            "file_write",
            json!({"path": "build/version.txt", "content": "version=2"}),
        ),
        (
            "Please create notes/meeting.md with the content \"Agenda: budget\"",
            "file_write",
            json!({"path": "notes/meeting.md", "content": "Agenda: budget"}),
        ),
        (
            "Write good morning to greeting.txt",
            "file_write",
            json!({"path": "greeting.txt", "content": "good morning"}),
        ),
        ("Speichere 'Hallo Welt' in gruss.txt", "file_write", json!({"path": "gruss.txt", "content": "Hallo Welt"})),
        (
            "In settings.ini, replace timeout=30 with timeout=60",
            "file_edit",
            json!({"path": "settings.ini", "old_str": "timeout=30", "new_str": "timeout=60"}),
        ),
        (
            "Rename the variable total to sum_total in calc.py",
            "file_edit",
            json!({"path": "calc.py", "old_str": "total", "new_str": "sum_total"}),
        ),
        (
            "Edit index.html: change 'Welcome' to 'Hello'",
            "file_edit",
            json!({"path": "index.html", "old_str": "Welcome", "new_str": "Hello"}),
        ),
        (
            "Ersetze 'alt' durch 'neu' in text.md",
            "file_edit",
            json!({"path": "text.md", "old_str": "alt", "new_str": "neu"}),
        ),
        ("grep for \"import os\" in *.py files", "code_search", json!({"pattern": "import os", "extension": "py"})),
        (
            "Look for the function calculateTotal in lib/",
            "code_search",
            json!({"pattern": "calculateTotal", "path": "lib/"}),
        ),
        ("Find every usage of connect_db in the code", "code_search", json!({"pattern": "connect_db"})),
        ("Search the codebase for FIXME comments", "code_search", json!({"pattern": "FIXME"})),
        ("Cherche 'erreur' dans le dossier app", "code_search", json!({"pattern": "erreur", "path": "app"})),
        ("Describe the structure of this project", "project_info", json!({})),
        ("What dependencies does the project have?", "project_info", json!({})),
        ("Show me the project tree with depth 4", "project_info", json!({"depth": 4})),
        (
            "Execute this query: SELECT id, email FROM customers LIMIT 5",
            "db_query",
            json!({"sql": "SELECT id, email FROM customers LIMIT 5"}),
        ),
        (
            "Query the database with \"SELECT MAX(price) FROM items\"",
            "db_query",
            json!({"sql": "SELECT MAX(price) FROM items"}),
        ),
        ("select * from invoices where paid = 0", "db_query", json!({"sql": "select * from invoices where paid = 0"})),
        ("How many customers are in the database?", "db_query", json!({"sql": "SELECT COUNT(*) FROM customers"})),
        (
            "Package the directory build/output as app-v2",
            "zip_package",
            json!({"source_dir": "build/output", "output_name": "app-v2"}),
        ),
        (
            "Make a zip called site.zip from the public folder",
            "zip_package",
            json!({"source_dir": "public", "output_name": "site"}),
        ),
        (
            "Bundle assets/images into images-bundle",
            "zip_package",
            json!({"source_dir": "assets/images", "output_name": "images-bundle"}),
        ),
        (
            "Packe den Ordner berichte als berichte-2024",
            "zip_package",
            json!({"source_dir": "berichte", "output_name": "berichte-2024"}),
        ),
    ]
}
