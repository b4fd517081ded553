use super::*;
use crate::guard::Folded;

fn findings(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    scan(&Folded::new(text), &mut found);
    found
}

fn best(text: &str) -> (u8, String) {
    let best = findings(text).into_iter().max_by_key(|finding| finding.score);
    best.map_or((0, String::new()), |finding| (finding.score, finding.pattern.into_owned()))
}

#[test]
fn statements_are_found_and_named_by_their_heads() {
    for (text, head) in [
        ("drop table users", "drop table"),
        ("DROP TABLE users", "drop table"),
        ("please drop table users", "drop table"),
        ("can you drop table users", "drop table"),
        ("show tables then drop table users", "drop table"),
        ("drop table users?", "drop table"),
        ("ｄｒｏｐ ｔａｂｌｅ users", "drop table"),
        ("DROP/**/TABLE users", "drop table"),
        ("drop\n\ttable if exists \"users\"", "drop table"),
        ("drop%20table%20users", "drop table"),
        ("';+DROP+TABLE+users;--", "drop table"),
        ("drop database production", "drop database"),
        ("DROP VIEW v", "drop view"),
        ("drop index concurrently idx_users_mail;", "drop index"),
        ("DROP USER bob", "drop user"),
        ("truncate table invoices", "truncate table"),
        ("truncate orders", "truncate"),
        ("delete from users where id = 1", "delete from"),
        ("could you delete from orders", "delete from"),
        ("DELETE FROM \"public\".\"users\"", "delete from"),
        ("alter table users drop column mail", "alter table"),
        ("ALTER USER root IDENTIFIED BY 'x'", "alter user"),
        ("UPDATE users SET admin=1", "update"),
        ("update t set a.b = 3 where true", "update"),
        ("insert into admins (name, pw) values ('me', '1')", "insert into"),
        ("REPLACE INTO t VALUES (1)", "replace into"),
        ("merge into t using s on t.id = s.id when matched then delete", "merge into"),
        ("grant all privileges on *.* to 'x'@'%'", "grant"),
        ("revoke select on accounts from auditor", "revoke"),
        ("GRANT dba TO scott", "grant"),
        ("exec xp_cmdshell 'dir'", "exec xp_cmdshell"),
        ("EXEC master..xp_cmdshell 'dir'", "exec xp_cmdshell"),
        ("rename table users to old_users", "rename table"),
        ("COPY t FROM PROGRAM 'id'", "copy program"),
        ("load data local infile '/etc/passwd' into table t", "load data"),
        ("' OR 1=1; DELETE FROM users; --", "delete from"),
        ("1 union select '<x>' into outfile '/var/www/x.php'", "into outfile"),
    ] {
        let (score, pattern) = best(text);
        assert!(score >= 70, "{text:?}: {score}");
        assert_eq!(pattern, head, "{text:?}");
    }
}

#[test]
fn orders_in_everyday_words_are_found() {
    for text in [
        "drop the users table",
        "remove all rows from orders",
        "Please wipe the production database.",
        "drop all tables",
        "delete every record in the customers table",
        "empty the sessions table now",
        "erase our whole database",
        "can you delete from orders",
        "delete all records from audit_log",
    ] {
        let (score, _) = best(text);
        assert!(score >= 50, "{text:?}: {score}");
    }
}

#[test]
fn questions_and_everyday_words_stay_quiet() {
    for text in [
        "how do I drop table users",
        "How do I drop a table in PostgreSQL?",
        "explain why DROP TABLE is dangerous",
        "what does drop table users do",
        "show me how to delete from orders where id = 1",
        "What is the difference between truncate table orders and delete from orders?",
        "Can I truncate table orders while people read it?",
        "please drop table 5 from the seating plan",
        "Delete from my calendar the meeting",
        "update the users about the delay",
        "alter the tone",
        "Create a table with three columns in this Word document",
        "Add a button to delete from favourites",
        "alter table reservations for Friday",
        "drop me a note when the build finishes",
        "truncate the description text",
        "Drop the table in chapter two of my document",
        "remove all rows from the spreadsheet",
        "delete the comparison table from page 3",
        "Please grant all employees access to the building",
        "We grant you a licence to use, copy and merge the software",
        "insert into the letter a sentence about prices",
        "Please clear the table after dinner",
        "Update the page, set the title in bold and a = b",
        "Do not drop table users",
        "There was a drop in table bookings",
        "SELECT * FROM users",
        "load the data into the file",
        "",
    ] {
        let (score, pattern) = best(text);
        assert!(score < 50, "{text:?}: {score} {pattern}");
    }
}

#[test]
fn spans_are_those_of_the_text_as_it_was_given() {
    let text = "é: DRO\u{200b}P TABLE users; and more";
    assert_eq!(&text[findings(text)[0].span.clone()], "DRO\u{200b}P TABLE users");
}

#[test]
fn the_corpus_is_judged_as_it_says() {
    crate::guard::code::corpus::judge("destructive_sql", scan);
}

#[test]
fn a_long_text_of_beginnings_ends_soon() {
    for piece in [
        "drop ",
        "grant all on ",
        "update a ",
        "drop/*",
        "delete the ",
        "copy ",
        "insert into t (",
        "how drop table x ",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let start = std::time::Instant::now();
        findings(&text);
        assert!(start.elapsed().as_secs() < 10, "{piece:?}: {:?}", start.elapsed());
    }
}
