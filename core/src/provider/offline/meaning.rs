//! What words are about: the same few subjects for a message, a tool's name and its description.
//!
//! A list of everyday words in several languages, not of tools. A word that is not here still counts when it stands in
//! both the message and the tool's description.

use super::reading::is_spaceless;
use crate::schema::words::{fold, stem};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Something that a message can ask for or be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Subject {
    Read,
    Write,
    Edit,
    Search,
    Fetch,
    Run,
    System,
    Database,
    Pack,
    Project,
    File,
    Folder,
    Time,
    Arithmetic,
    Listing,
    Counting,
    Sending,
    Weather,
    Translation,
}

impl Subject {
    /// How much a word of this subject says about which tool is meant.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::Pack | Self::Database => 3.5,
            Self::Edit | Self::Weather | Self::Translation | Self::Arithmetic | Self::Sending => 3.0,
            Self::Write | Self::Search | Self::Fetch | Self::Run | Self::Project | Self::Time => 2.5,
            Self::Read | Self::System => 2.0,
            Self::Listing | Self::Counting => 1.5,
            Self::File | Self::Folder => 1.0,
        }
    }
}

/// The words of each subject, as people write them; English endings need not be listed.
const WORDS: &[(Subject, &str)] = &[
    (
        Subject::Read,
        "read show open view display print cat content see say inspect summary summarise summarize peek lies lese lesen zeig zeige \
         öffne inhalt anzeigen steht lis lire affiche afficher montre ouvre contenu lee leer muestra mostrar muéstrame \
         abre contenido leggi mostra apri leia mostre abra прочитай прочти покажи открой содержимое 读取 读 打开 显示 内容 読む \
         読んで 表示",
    ),
    (
        Subject::Write,
        "write save create store persist put make generate note jot schreib schreibe speichere speicher erstelle lege \
         anlegen écris écrire enregistre sauvegarde crée créer escribe guarda crea crear scrivi salva escreva salve \
         crie запиши сохрани создай напиши 写入 写 保存 创建 書いて 保存",
    ),
    (
        Subject::Edit,
        "edit replace change modify rename substitute fix update swap patch correct alter remove delete ersetze ersetz \
         ändere bearbeite tausche remplace remplacer modifie corrige reemplaza cambia edita sustituye modifica \
         sostituisci substitua troque altere замени измени исправь 替换 修改 改成 置換",
    ),
    (
        Subject::Search,
        "search find grep locate occurrence where usage reference mention defined definition pattern regex regexp match \
         declared lookup hunt such suche suchen finde wo vorkommen cherche chercher trouve recherche où busca buscar \
         encuentra dónde cerca trova procure busque onde найди поищи ищи где 搜索 查找 寻找 検索 探して",
    ),
    (
        Subject::Fetch,
        "fetch get download request curl url http https web website webpage page site endpoint api visit ping retrieve \
         check post header hole hol abrufen rufe lade webseite récupère télécharge obtén descarga scarica скачай загрузи \
         получи запроси 获取 下载 访问 请求 取得",
    ),
    (
        Subject::Run,
        "run execute exec command shell terminal bash launch invoke führe ausführen befehl starte exécute lance commande \
         ejecuta corre comando esegui rode выполни запусти команду 执行 运行 命令 実行",
    ),
    (
        Subject::System,
        "disk uptime hostname process cpu memory kernel whoami os machine version system platte rechner disque système \
         disco sistema диск система 磁盘 系统",
    ),
    (
        Subject::Database,
        "sql query database db table row record select column datenbank tabelle zeile abfrage requête tabla fila \
         consulta tabella tabela база базе таблица таблице 数据库 查询 テーブル",
    ),
    (
        Subject::Pack,
        "zip unzip archive compress package bundle pack tarball tar zippe packe komprimiere archiviere archiv compresse \
         comprime empaqueta comprimi compacte заархивируй упакуй сожми архив 压缩 打包 圧縮",
    ),
    (
        Subject::Project,
        "project framework structure tree codebase repository repo dependency stack overview layout technology projekt \
         struktur überblick projet aperçu proyecto estructura progetto projeto estrutura проект проекта проекте \
         структура 项目 结构 プロジェクト",
    ),
    (Subject::File, "file document datei dateien fichier archivo fichero arquivo файл файле файла 文件 ファイル"),
    (
        Subject::Folder,
        "folder directory dir ordner verzeichnis dossier répertoire carpeta directorio cartella pasta папка папку \
         каталог 目录 文件夹",
    ),
    (
        Subject::Time,
        "time clock date today now hour weekday uhr uhrzeit zeit spät datum heute heure hora fecha время час дата 时间 日期 \
         几点",
    ),
    (
        Subject::Arithmetic,
        "calculate compute calculator sum add plus minus times multiply divide product arithmetic math rechne berechne \
         calcule calcula посчитай вычисли 计算",
    ),
    (Subject::Listing, "list enumerate ls dir liste lister listar elenca список 列出"),
    (Subject::Counting, "count counter how_many number_of zähle wieviele compte combien cuenta cuántos сколько 多少"),
    (Subject::Sending, "send mail email sms sende schicke envoie envía invia отправь 发送"),
    (Subject::Weather, "weather forecast temperature wetter météo temps tiempo clima погода 天气"),
    (Subject::Translation, "translate translation übersetze traduis traduce traduci переведи 翻译"),
];

/// Two words that mean something together.
const PAIRS: &[(&str, &str, Subject)] = &[
    ("look", "for", Subject::Search),
    ("looking", "for", Subject::Search),
    ("look", "at", Subject::Read),
    ("look", "into", Subject::Read),
    ("look", "inside", Subject::Read),
    ("look", "in", Subject::Read),
    ("what's", "in", Subject::Read),
    ("what's", "inside", Subject::Read),
    ("is", "in", Subject::Read),
    ("is", "inside", Subject::Read),
    ("how", "many", Subject::Counting),
    ("number", "of", Subject::Counting),
    ("wie", "viele", Subject::Counting),
    ("built", "with", Subject::Project),
    ("written", "in", Subject::Project),
];

static BY_STEM: LazyLock<HashMap<String, Subject>> = LazyLock::new(|| {
    let entries = WORDS.iter().flat_map(|(subject, words)| words.split_whitespace().map(|word| (word, *subject)));
    let mut map = HashMap::new();
    for (word, subject) in entries {
        // The first subject of a word counts.
        map.entry(stem(&fold(word))).or_insert(subject);
    }
    map
});

/// The subject of one folded word.
pub(super) fn subject(folded: &str) -> Option<Subject> {
    let last = || folded.rsplit_once('-').and_then(|(_, last)| BY_STEM.get(&stem(last)));
    let found = BY_STEM.get(&stem(folded)).or_else(last).copied();
    if found.is_some() || !folded.chars().any(is_spaceless) {
        return found;
    }
    // Without spaces the word stands somewhere in the run of characters; the longest one counts.
    let inside = BY_STEM.iter().filter(|(word, _)| word.chars().any(is_spaceless) && folded.contains(word.as_str()));
    inside.max_by_key(|(word, _)| (word.len(), word.as_str())).map(|(_, subject)| *subject)
}

/// All subjects in a run of characters without spaces.
pub(super) fn subjects_without_spaces(folded: &str) -> Vec<Subject> {
    let inside = BY_STEM.iter().filter(|(word, _)| word.chars().any(is_spaceless) && folded.contains(word.as_str()));
    let mut subjects: Vec<Subject> = inside.map(|(_, subject)| *subject).collect();
    subjects.sort_unstable();
    subjects.dedup();
    subjects
}

/// The subject of two folded words together.
pub(super) fn subject_of_pair(first: &str, second: &str) -> Option<Subject> {
    PAIRS.iter().find(|(a, b, _)| *a == first && *b == second).map(|(_, _, subject)| *subject)
}

/// Programs that people name when they want a command run.
const PROGRAMS: &str = " awk bash cal cargo cat cd chmod cp curl cut date df diff dir dmesg dnf docker dotnet du echo env \
    file find free gcc git go grep head hostname hostnamectl id ifconfig ip java journalctl jq kubectl last ls lsblk \
    lscpu lsof make mkdir mount mv mvn netstat node nproc npm nvidia-smi php ping pip pip3 pnpm printenv ps pwd pytest \
    python python3 pytest rg rm ruby rustc sed sh sort ss stat systemctl tail tar terraform touch tree type uname uniq \
    uptime vmstat w wc which who whoami yarn zip ";

/// Whether the word names a well-known program.
pub(super) fn is_program(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    !name.is_empty() && PROGRAMS.split(' ').any(|program| program == name)
}

/// Questions about a machine and the command that answers each: all the words must be there.
const MACHINE: &[(&[&str], &str)] = &[
    (&["disk"], "df -h"),
    (&["festplatte"], "df -h"),
    (&["uptime"], "uptime"),
    (&["running", "long", "machine"], "uptime"),
    (&["running", "long", "system"], "uptime"),
    (&["running", "long", "server"], "uptime"),
    (&["hostname"], "hostname"),
    (&["host", "name"], "hostname"),
    (&["name", "machine"], "hostname"),
    (&["name", "computer"], "hostname"),
    (&["kernel"], "uname -a"),
    (&["operating", "system"], "uname -a"),
    (&["current", "user"], "whoami"),
    (&["logged", "user"], "whoami"),
    (&["who", "am", "i"], "whoami"),
    (&["which", "user"], "whoami"),
    (&["what", "user"], "whoami"),
    (&["working", "directory"], "pwd"),
    (&["current", "directory", "path"], "pwd"),
    (&["which", "directory", "am"], "pwd"),
    (&["where", "am", "i"], "pwd"),
    (&["what", "date"], "date"),
    (&["current", "date"], "date"),
    (&["today's", "date"], "date"),
    (&["what", "time"], "date"),
    (&["current", "time"], "date"),
    (&["system", "time"], "date"),
    (&["what", "day"], "date"),
    (&["free", "memory"], "free -h"),
    (&["memory", "usage"], "free -h"),
    (&["processes"], "ps aux"),
    (&["git", "status"], "git status"),
    (&["list", "files"], "ls"),
    (&["files", "current", "directory"], "ls"),
    (&["files", "current", "folder"], "ls"),
    (&["datum", "heute"], "date"),
    (&["wie", "spät"], "date"),
];

/// The command that answers a question about the machine, the most specific first.
pub(super) fn machine_command(has: impl Fn(&str) -> bool) -> Option<&'static str> {
    let fits = MACHINE.iter().filter(|(words, _)| words.iter().all(|word| has(word)));
    fits.max_by_key(|(words, _)| words.len()).map(|(_, command)| *command)
}

/// The number that a word means.
pub(super) fn number_word(folded: &str) -> Option<u64> {
    let words: &[(&str, u64)] = &[
        ("one", 1),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("twelve", 12),
        ("fifteen", 15),
        ("twenty", 20),
        ("thirty", 30),
        ("fifty", 50),
        ("hundred", 100),
        ("zwei", 2),
        ("drei", 3),
        ("vier", 4),
        ("fünf", 5),
        ("zehn", 10),
        ("deux", 2),
        ("trois", 3),
        ("dix", 10),
        ("dos", 2),
        ("tres", 3),
        ("diez", 10),
    ];
    words.iter().find(|(word, _)| *word == folded).map(|(_, number)| *number)
}

/// Whether a text is an SQL statement.
pub(super) fn is_sql(text: &str) -> bool {
    let lower = text.trim_start_matches(['(', ' ', '\n']).to_lowercase();
    let mut words = lower.split_whitespace();
    let Some(first) = words.next() else { return false };
    let has = |word: &str| lower.split(|c: char| !c.is_alphanumeric() && c != '_').any(|other| other == word);
    let prose = || {
        let between = lower.split(" from ").next().unwrap_or_default();
        between.split_whitespace().any(|word| matches!(word, "the" | "all" | "a" | "some" | "every" | "me"))
    };
    match first {
        "select" => {
            let plain = lower.chars().skip(7).find(|c| !c.is_whitespace());
            (has("from") && !prose()) || (!has("from") && plain.is_some_and(|c| c.is_ascii_digit() || c == '\''))
        }
        "with" => has("as") && has("select"),
        "insert" => has("into") && (has("values") || has("select")),
        "update" => has("set") && lower.contains('='),
        "delete" => words.next() == Some("from") && !prose(),
        "explain" | "pragma" | "describe" | "show" => {
            text.split_whitespace().next().is_some_and(|word| word.chars().all(|c| c.is_ascii_uppercase()))
        }
        "create" | "drop" | "alter" => {
            matches!(words.next(), Some("table" | "index" | "view" | "database")) && {
                text.split_whitespace().next().is_some_and(|word| word.chars().all(|c| c.is_ascii_uppercase()))
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_several_languages_share_a_subject() {
        for word in ["reading", "lies", "affiche", "muestra", "прочитай", "请读取"] {
            assert_eq!(subject(&fold(word)), Some(Subject::Read), "{word}");
        }
        assert_eq!(subject("banana"), None);
        assert_eq!(subjects_without_spaces("搜索数据库"), [Subject::Search, Subject::Database]);
    }

    #[test]
    fn sql_is_told_from_prose() {
        for sql in
            ["SELECT * FROM users", "select id, name from t where a = 'b'", "WITH x AS (SELECT 1) SELECT * FROM x"]
        {
            assert!(is_sql(sql), "{sql}");
        }
        for prose in ["select all the users from the list", "with a select few", "update the readme", "show tables"] {
            assert!(!is_sql(prose), "{prose}");
        }
    }
}
