//! The words that tell statements from sentences.

use std::sync::LazyLock;

/// Words that can be looked up quickly: by their first letter.
pub(super) struct WordSet {
    by_letter: [Vec<&'static str>; LETTERS],
}

/// Letters of the alphabet, and one place for all else.
const LETTERS: usize = 27;

impl WordSet {
    fn of(words: &'static str) -> Self {
        let mut by_letter = [const { Vec::new() }; LETTERS];
        for word in words.split_whitespace() {
            if let Some(bucket) = by_letter.get_mut(letter(word)) {
                bucket.push(word);
            }
        }
        Self { by_letter }
    }

    pub(super) fn contains(&self, word: &str) -> bool {
        self.find(word).is_some()
    }
}

fn letter(word: &str) -> usize {
    let first = word.bytes().next().unwrap_or_default();
    if first.is_ascii_lowercase() { usize::from(first - b'a') } else { LETTERS - 1 }
}

/// Words of which one may be taken.
pub(super) trait Words {
    /// The word, when it is one of these.
    fn find(&self, word: &str) -> Option<&'static str>;
}

impl Words for WordSet {
    fn find(&self, word: &str) -> Option<&'static str> {
        self.by_letter.get(letter(word))?.iter().find(|known| **known == word).copied()
    }
}

impl Words for LazyLock<WordSet> {
    fn find(&self, word: &str) -> Option<&'static str> {
        WordSet::find(self, word)
    }
}

impl<const N: usize> Words for [&'static str; N] {
    fn find(&self, word: &str) -> Option<&'static str> {
        self.iter().find(|known| **known == word).copied()
    }
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $words:literal;)+) => {
        $($(#[$doc])* pub(super) static $name: LazyLock<WordSet> = LazyLock::new(|| WordSet::of($words));)+
    };
}

words! {
    /// Words that may begin a statement or an order.
    VERBS = "drop truncate delete alter update insert replace merge grant revoke exec execute call xp rename copy load into create \
        remove wipe erase purge clear empty destroy nuke overwrite";
    /// Words that may begin an order in everyday words.
    ORDER_VERBS = "drop delete remove wipe erase purge clear empty truncate destroy nuke overwrite";
    /// Things that a database has, and that are told by their name alone.
    OBJECTS = "table database schema tablespace keyspace trigger procedure sequence constraint materialized";
    /// Things that a database has, whose names are everyday words too.
    SOFT_OBJECTS = "view index user role column function type login extension policy event partition domain server rule \
        owned synonym package publication subscription aggregate assembly credential certificate profile \
        directory link primary foreign";
    /// Words between the verb and the thing.
    MODIFIERS = "temporary temp global local unique external unlogged virtual or replace public clustered fulltext \
        private spatial event";
    /// Words that no table is called by in a sentence.
    NOT_NAMES = "the a an my your our their his her its this that these those in on at of for to from with by and or but \
        is are was were be been do does did has have had can could should would will may might must not no it i \
        you we they he she there here when where why how what which who as than so because while also just \
        please only very too into onto via per one two three four five six seven eight nine ten any some each \
        such statement statements command commands syntax query queries operation operations permission \
        permissions privilege privileges clause keyword keywords rights support migration migrations without \
        using fails failed after before during if then them me us him everyone everybody either both up down out \
        off over under between within about through instead since until against across above below around itself \
        whether anything something everything nothing now later again number reservations tennis salt tops \
        settings cloth legs lamp lamps manners talk service places seating";
    /// What follows a name in a statement.
    CLAUSES = "cascade restrict purge where returning limit values value set select add drop modify rename change alter \
        disable enable restart continue using union owner nologging";
    /// What follows a name where an order ends.
    ORDER_ENDS = "and then now please immediately if right before after too asap completely entirely or so because today \
        thanks first permanently quickly again next instantly it but";
    /// Words that say that a database is meant.
    DATABASE = "database databases db sql mysql postgres postgresql sqlite mariadb oracle mssql schema schemas \
        prod production staging rows records tuples query queries backend postgre tablespace dba truncate \
        cascade columns snowflake bigquery redshift rds mongo mongodb collection";
    /// Words that say that a document, a page, a room or a calendar is meant.
    ELSEWHERE = "document documents word excel spreadsheet spreadsheets sheet page pages slide slides markdown powerpoint \
        latex html css restaurant seating booking bookings guests dinner calendar email emails letter essay \
        chapter paragraph figure report pdf docx csv readme wiki article draft appendix presentation kitchen \
        lunch wedding playlist inbox notes note file files list poem recipe sentence text agenda menu pivot \
        furniture chairs website homepage notebook dataframe pandas worksheet workbook sheets template garage \
        room";
    /// What tables are often called.
    TABLES = "users user customers customer orders order accounts account payments payment sessions session logs log \
        products product invoices invoice employees employee transactions transaction admins admin students \
        student audit credentials passwords clients items inventory subscriptions permissions roles tokens \
        profiles events posts comments messages staff members salaries payroll patients tickets audit_log \
        users_old carts secrets";
    /// Words that stand before a name: "the", "all".
    DETERMINERS = "the all every each our my your this that these those entire whole of any existing old production prod \
        staging live main data test stale its their complete";
    /// Words that turn an order into its opposite.
    NEGATIONS = "not never without avoid don doesn didn won cannot t no stop refuse refuses";
    /// Rights that are given and taken.
    RIGHTS = "all select insert update delete execute usage create drop alter references trigger index connect super \
        superuser file process reload shutdown control truncate grant any dba temporary unlimited impersonate \
        replication view";
    /// What ALTER does to a thing.
    CHANGES = "add drop modify rename change alter set owner enable disable convert engine with identified reset attach \
        detach truncate superuser password inherit no validate auto_increment character default to exchange \
        discard login createdb createrole";
    /// Roles that rule a database.
    ROLES = "dba sysdba superuser sysadmin db_owner db_datareader db_datawriter rds_superuser admin root postgres \
        pg_read_server_files pg_execute_server_program pg_write_server_files super";
}
