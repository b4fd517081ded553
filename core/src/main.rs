//! The `cheliped` command; everything is in [`cheliped::cli`].

fn main() -> std::process::ExitCode {
    cheliped::cli::main()
}
