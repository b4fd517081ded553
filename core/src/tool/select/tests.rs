use super::*;

/// The documented built-ins with their routing words, and fillers, so that limits bite.
struct Shelf(Vec<(String, String, Routing)>);

impl Shelf {
    fn new(tools: &[(&str, &str, &str, &str)]) -> Self {
        let list = |words: &str| words.split_whitespace().map(str::to_owned).collect();
        let tool = |(name, description, domains, tags): &(&str, &str, &str, &str)| {
            let routing = Routing { domains: list(domains), tags: list(tags), ..Routing::default() };
            ((*name).to_owned(), (*description).to_owned(), routing)
        };
        Self(tools.iter().map(tool).collect())
    }

    fn built_in() -> Self {
        Self::new(&[
            ("shell_exec", "Runs a command.", "system", "shell command run execute terminal bash disk usage space"),
            ("http_request", "Fetches a public URL.", "network", "http request fetch url api endpoint curl"),
            ("file_read", "Reads a file.", "filesystem", "read open file contents view show"),
            ("file_write", "Writes a file.", "filesystem", "write create save file"),
            ("file_edit", "Replaces text in a file.", "filesystem code", "edit replace modify patch change"),
            ("code_search", "Finds text.", "code search", "grep find search pattern regex occurrences"),
            ("project_info", "Describes the project.", "project", "project framework packages structure tree"),
            ("db_query", "Runs a query.", "database data", "sql select query rows table schema count"),
            ("zip_package", "Packs a folder.", "filesystem packaging", "zip archive package bundle compress"),
        ])
    }

    fn candidates(&self) -> Vec<Candidate<'_>> {
        let candidate =
            |(name, description, routing)| Candidate { name, description, routing: Some(routing), schema_len: 100 };
        self.0.iter().map(|(name, description, routing)| candidate((name, description, routing))).collect()
    }

    fn choose(&self, situation: &Situation<'_>) -> Vec<&str> {
        let selection = select(&self.candidates(), situation);
        selection.offered.iter().map(|index| self.0[*index].0.as_str()).collect()
    }
}

fn situation(message: &str, max_tools: usize) -> Situation<'_> {
    Situation {
        message,
        model: "m",
        max_tools: Some(max_tools),
        always_include: &[],
        profile: &Profile::FULL,
        prompt_tokens: 0,
        history_chars: 0,
    }
}

#[test]
fn what_fits_is_offered_as_registered() {
    let shelf = Shelf::built_in();
    let all: Vec<&str> = shelf.0.iter().map(|tool| tool.0.as_str()).collect();
    assert_eq!(shelf.choose(&situation("zip it", 9)), all);
    assert_eq!(shelf.choose(&Situation { max_tools: None, ..situation("zip it", 0) }), all);
}

#[test]
fn a_cut_offer_is_the_most_fitting_sorted_by_name() {
    let shelf = Shelf::built_in();
    for (message, best) in [
        ("How many rows are in the customers table?", "db_query"),
        ("fetch the API endpoint", "http_request"),
        ("compress the folder into an archive", "zip_package"),
        ("Which packages does this project use?", "project_info"),
        ("Find all occurrences of TODO", "code_search"),
        ("replaces a typo", "file_edit"),
    ] {
        assert_eq!(shelf.choose(&situation(message, 1)), [best], "{message}");
        let three = shelf.choose(&situation(message, 3));
        assert!(three.contains(&best) && three.is_sorted() && three.len() == 3, "{message}: {three:?}");
    }
}

#[test]
fn the_model_names_the_limit_when_none_is_set() {
    let names: Vec<String> = (0..12).map(|n| format!("tool_{n:02}")).collect();
    let tools: Vec<_> = names.iter().map(|name| (name.as_str(), "", "", "")).collect();
    let shelf = Shelf::new(&tools);
    for (model, count) in [("claude-haiku-4-5", 6), ("gpt-5", 10), ("claude-sonnet-5", 12)] {
        let situation = Situation { max_tools: None, model, ..situation("x", 0) };
        assert_eq!(shelf.choose(&situation).len(), count);
    }
}

#[test]
fn words_of_any_script_rank() {
    let shelf = Shelf::new(&[
        ("alpha", "Zeigt die Größe einer Straße.", "", ""),
        ("beta", "Находит заказ клиента.", "", ""),
        ("gamma", "读取文件内容", "", ""),
        ("delta", "Looks at order7 only.", "", ""),
    ]);
    for (message, best) in [("GRÖSSE?", "alpha"), ("где ЗАКАЗ", "beta"), ("请读取文件", "gamma"), ("order7", "delta")]
    {
        assert_eq!(shelf.choose(&situation(message, 1)), [best], "{message}");
    }
}

#[test]
fn a_word_that_all_tools_share_decides_nothing() {
    let shelf =
        Shelf::new(&[("a", "file file file", "file", "file"), ("b", "file", "", ""), ("c", "file moon", "", "")]);
    assert_eq!(shelf.choose(&situation("the file of the moon", 1)), ["c"]);
}

#[test]
fn named_tools_are_pinned_by_whole_names_only() {
    let shelf = Shelf::new(&[
        ("db", "Moon.", "", ""),
        ("user_id_lookup", "Moon.", "", ""),
        ("shell_exec", "Moon.", "", ""),
        ("list-files", "Moon.", "", ""),
        ("zeta", "Sun.", "sun", "sun"),
    ]);
    for (message, chosen) in [
        // Part of another name, and a name that holds another, pin nothing.
        ("sun my_db_name", "zeta"),
        ("sun: user_id=7 failed", "zeta"),
        ("sun with shell_exec.", "shell_exec"),
        ("sun, use ShellTool", "shell_exec"),
        ("sun, use DbTool", "db"),
        ("sun, ask `db`", "db"),
        ("sun, list_files", "list-files"),
        ("sun list-files:", "list-files"),
        ("sun db", "zeta"),
        ("the ShellTool of the sun", "zeta"),
    ] {
        assert_eq!(shelf.choose(&situation(message, 1)), [chosen], "{message}");
    }
}

#[test]
fn pins_never_exceed_the_limit_and_load_skill_comes_first() {
    let shelf =
        Shelf::new(&[("a_a", "", "", ""), ("b_b", "", "", ""), ("c_c", "", "", ""), ("load_skill", "", "", "")]);
    assert_eq!(shelf.choose(&situation("c_c b_b a_a", 1)), ["load_skill"]);
    assert_eq!(shelf.choose(&situation("c_c b_b a_a", 3)), ["b_b", "c_c", "load_skill"]);
}

#[test]
fn always_included_tools_are_outside_limit_and_budget() {
    let shelf = Shelf::built_in();
    let always = ["project_info".to_owned(), "no_such_tool".to_owned()];
    let one = Situation { always_include: &always, ..situation("count rows of the table", 1) };
    assert_eq!(shelf.choose(&one), ["db_query", "project_info"]);
    let narrow = Profile { request_tokens: Some(1), ..Profile::FULL };
    assert_eq!(shelf.choose(&Situation { profile: &narrow, ..one }), ["project_info"]);
    assert_eq!(shelf.choose(&Situation { profile: &narrow, always_include: &[], ..one }), ["db_query"]);
    let all = Situation { always_include: &always, ..situation("x", 8) };
    assert_eq!(shelf.choose(&all).len(), 9);
}

#[test]
fn a_budget_drops_the_least_fitting_not_the_last_registered() {
    let shelf = Shelf::built_in();
    // Room for about three tools.
    let narrow = Profile { request_tokens: Some(1000 + 160), ..Profile::FULL };
    let situation = Situation {
        profile: &narrow,
        prompt_tokens: 750,
        history_chars: 1003,
        ..situation("zip the folder into an archive", 9)
    };
    let chosen = shelf.choose(&situation);
    assert!(chosen.contains(&"zip_package") && chosen.is_sorted(), "{chosen:?}");
    assert_eq!(chosen.len(), 3);
    assert_eq!(shelf.choose(&Situation { prompt_tokens: 5000, ..situation }), ["zip_package"]);
    assert_eq!(shelf.choose(&Situation { prompt_tokens: 0, history_chars: 0, ..situation }).len(), 9);
}

#[test]
fn a_small_model_is_spared_tools_that_hardly_fit() {
    let shelf = Shelf::built_in();
    let small = Situation { profile: &Profile::MINIMAL, ..situation("compress the folder into a zip archive", 5) };
    assert_eq!(shelf.choose(&small), ["zip_package"]);
    assert!(select(&shelf.candidates(), &small).lean);
    let unclear = Situation { message: "hm", ..small };
    assert_eq!(shelf.choose(&unclear).len(), 5);
}

#[test]
fn lean_descriptions_count_lean() {
    let long = format!("\n  Short.  \n{}", "long ".repeat(2000));
    assert_eq!(lean(&long), "Short.");
    let shelf = Shelf::new(&[("a", &long, "", ""), ("b", &long, "", "")]);
    let cramped = Profile { lean: false, ..Profile::MINIMAL };
    assert_eq!(shelf.choose(&Situation { profile: &cramped, ..situation("x", 5) }), ["a"]);
    assert_eq!(shelf.choose(&Situation { profile: &Profile::MINIMAL, ..situation("x", 5) }), ["a", "b"]);
}

#[test]
fn no_tools_and_no_room_are_no_trouble() {
    assert!(Shelf::new(&[]).choose(&situation("x", 0)).is_empty());
    assert!(Shelf::built_in().choose(&situation("x", 0)).is_empty());
}
