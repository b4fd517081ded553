//! Names of files and folders that hold secrets or rule a build. All are compared in small letters.

/// Extensions of files that may hold secrets (list A).
pub const EXTENSIONS: [&str; 17] = [
    "env",
    "key",
    "pem",
    "crt",
    "p12",
    "pfx",
    "cer",
    "der",
    "jks",
    "keystore",
    "truststore",
    "sqlite",
    "sqlite3",
    "db",
    "mdb",
    "kdbx",
    "kwallet",
];

/// Files of settings and credentials (list B).
pub const FILES: [&str; 47] = [
    "wp-config.php",
    "wp-config-sample.php",
    "config.php",
    "configuration.php",
    "database.php",
    "settings.php",
    "local_settings.php",
    "settings.local.php",
    "local.php",
    "app.php",
    "env.php",
    "config.local.php",
    "config.prod.php",
    "settings.inc.php",
    "parameters.php",
    "parameters.yml",
    "parameters.yaml",
    ".htpasswd",
    ".htaccess",
    ".htdigest",
    "nginx.conf",
    "httpd.conf",
    "php.ini",
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".envrc",
    ".my.cnf",
    ".pgpass",
    "credentials.json",
    "service-account.json",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
    "known_hosts",
    "authorized_keys",
    "docker-compose.yml",
    "docker-compose.yaml",
    ".dockerenv",
    ".yarnrc",
    ".yarnrc.yml",
    ".dockercfg",
    ".vault-token",
    ".s3cfg",
    ".boto",
    ".terraformrc",
];

/// Folders whose content is not touched, at any place of a path (list C).
pub const FOLDERS: [&str; 11] =
    [".git", ".ssh", ".gnupg", ".aws", ".azure", ".gcloud", ".kube", ".docker", ".config", "wp-admin", "wp-includes"];

/// Endings that editors and backups put behind a name.
const ENDINGS: [&str; 9] = [".bak", ".old", ".orig", ".save", ".swp", ".swo", ".tmp", ".copy", ".backup"];

/// A name without what editors and backups put behind it, however often.
///
/// ```
/// use cheliped::sandbox::blocks::bare;
/// assert_eq!(bare("id_rsa.bak~"), "id_rsa");
/// ```
pub fn bare(name: &str) -> &str {
    let mut bare = name;
    loop {
        let shorter = ENDINGS
            .iter()
            .find_map(|ending| bare.strip_suffix(ending))
            .or_else(|| bare.strip_suffix('~'))
            .filter(|shorter| !shorter.is_empty());
        match shorter {
            Some(shorter) => bare = shorter,
            None => return bare,
        }
    }
}

/// The extension of a name: what stands behind its last full stop.
pub fn extension(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(_, extension)| extension).filter(|extension| !extension.is_empty())
}

/// Whether a name in small letters is on list B.
pub fn is_listed_file(name: &str) -> bool {
    FILES.contains(&name) || name.ends_with(".tfstate")
}

/// Whether a name in small letters is one of an environment file: `.env`, `.env.local`.
pub fn is_environment(name: &str) -> bool {
    name.starts_with(".env")
}
