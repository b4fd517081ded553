//! Finds every path of a source file that leads to a room of the crate: in `use` items, in code, inside macros and
//! in attributes. Test code is skipped.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::Visit;

/// What one file holds.
#[derive(Default)]
pub(crate) struct Walk {
    /// Rooms of the crate that are named, with the line.
    pub(crate) used: Vec<(usize, String)>,
    /// First names of paths that do not start inside the crate.
    pub(crate) foreign: Vec<(usize, String)>,
    /// What would hide an edge from this walk.
    pub(crate) hidden: Vec<(usize, String)>,
    /// Lines that say `unsafe`.
    pub(crate) unsafes: Vec<usize>,
    /// Lines that say `async`.
    pub(crate) asyncs: Vec<usize>,
    /// Modules that exist for tests only, as full paths.
    pub(crate) test_modules: Vec<String>,
    /// Names that a root file makes available, with the room that each comes from.
    pub(crate) exports: Vec<(String, String)>,
    /// Lines without the test code.
    pub(crate) lines: usize,
}

/// The module that a file is: `provider/wire/mod.rs` is `provider::wire`.
pub(crate) fn module_of(path: &str) -> String {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    match stem {
        "lib" | "main" => String::new(),
        stem => stem.replace('/', "::"),
    }
}

/// Walks one file.
pub(crate) fn walk(path: &str, text: &str) -> syn::Result<Walk> {
    let file = syn::parse_file(text)?;
    let module = module_of(path).split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let mut walker = Walker { module, found: Walk::default(), test_lines: 0 };
    walker.visit_file(&file);
    let Walker { mut found, test_lines, .. } = walker;
    found.lines = text.lines().count() - test_lines;
    Ok(found)
}

struct Walker {
    module: Vec<String>,
    found: Walk,
    test_lines: usize,
}

impl Walker {
    /// Notes a path, given as its names in order.
    fn path(&mut self, line: usize, names: &[String]) {
        let mut place = match names.first().map(String::as_str) {
            Some("crate" | "cheliped") => Vec::new(),
            Some("self" | "super") => self.module.clone(),
            Some(first) => {
                self.found.foreign.push((line, first.to_owned()));
                return;
            }
            None => return,
        };
        for (index, name) in names.iter().enumerate() {
            match name.as_str() {
                "crate" | "cheliped" if index == 0 => {}
                "self" => {}
                "super" => {
                    place.pop();
                }
                name => place.push(name.to_owned()),
            }
        }
        if let Some(room) = place.first() {
            self.found.used.push((line, room.clone()));
        }
    }

    /// Takes the names of a `use` tree apart.
    fn tree(&mut self, line: usize, before: &[String], tree: &syn::UseTree, exported: bool) {
        let with = |name: &syn::Ident| {
            let mut names = before.to_vec();
            names.push(name.to_string());
            names
        };
        let at_root = |names: &[String]| {
            names.iter().all(|name| matches!(name.as_str(), "crate" | "cheliped")) || {
                let up = names.iter().filter(|name| *name == "super").count();
                up == self.module.len() && up == names.len()
            }
        };
        match tree {
            syn::UseTree::Path(path) => self.tree(line, &with(&path.ident), &path.tree, exported),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(line, before, tree, exported);
                }
            }
            syn::UseTree::Name(name) => {
                let names = with(&name.ident);
                if exported {
                    self.export(&names, &name.ident.to_string());
                }
                self.path(line, &names);
            }
            syn::UseTree::Rename(rename) => {
                let names = with(&rename.ident);
                if at_root(&names) {
                    self.found.hidden.push((line, "renames the crate root, which hides edges".into()));
                }
                if exported {
                    self.export(&names, &rename.rename.to_string());
                }
                self.path(line, &names);
            }
            syn::UseTree::Glob(_) => {
                if at_root(before) {
                    self.found.hidden.push((line, "glob import of the crate root hides edges".into()));
                }
                self.path(line, before);
            }
        }
    }

    fn export(&mut self, names: &[String], name: &str) {
        let room = names.iter().find(|name| !matches!(name.as_str(), "crate" | "self"));
        if let Some(room) = room.filter(|room| *room != name) {
            self.found.exports.push((name.to_owned(), room.clone()));
        }
    }

    /// Reads paths out of tokens that are no parsed code.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut names: Vec<String> = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    self.word(ident.span().start().line, &name);
                    if names.is_empty() || colons != 2 {
                        self.end_of_path(line, &mut names);
                        line = ident.span().start().line;
                    }
                    names.push(name);
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.end_of_path(line, &mut names),
                TokenTree::Group(group) => {
                    // `crate::{a, b}` inside a macro: each name in the braces goes on from the path before them.
                    if colons == 2 && !names.is_empty() && group.delimiter() == proc_macro2::Delimiter::Brace {
                        for token in group.stream() {
                            if let TokenTree::Ident(ident) = token {
                                let mut longer = names.clone();
                                longer.push(ident.to_string());
                                self.end_of_path(ident.span().start().line, &mut longer);
                            }
                        }
                    }
                    self.end_of_path(line, &mut names);
                    self.tokens(group.stream());
                }
            }
        }
        self.end_of_path(line, &mut names);
    }

    fn end_of_path(&mut self, line: usize, names: &mut Vec<String>) {
        if names.len() > 1 {
            self.path(line, names);
        }
        names.clear();
    }

    fn word(&mut self, line: usize, word: &str) {
        match word {
            "unsafe" | "unsafe_code" => self.found.unsafes.push(line),
            "async" | "await" => self.found.asyncs.push(line),
            _ => {}
        }
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_test = |list: &syn::MetaList| list.tokens.to_string() == "test";
        attribute.path().is_ident("cfg") && attribute.meta.require_list().is_ok_and(is_test)
    })
}

fn attributes_of(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::ExternCrate(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::ForeignMod(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::TraitAlias(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Union(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn names_of(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

impl<'ast> Visit<'ast> for Walker {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_for_tests(attributes_of(item)) {
            let (start, end) = (item.span().start().line, item.span().end().line);
            self.test_lines += end + 1 - start;
            if let syn::Item::Mod(module) = item {
                let mut path = self.module.clone();
                path.push(module.ident.to_string());
                self.found.test_modules.push(path.join("::"));
            }
            return;
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_some() {
            self.module.push(item.ident.to_string());
            syn::visit::visit_item_mod(self, item);
            self.module.pop();
        } else {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let exported = matches!(item.vis, syn::Visibility::Public(_));
        self.tree(item.span().start().line, &[], &item.tree, exported);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = names_of(path);
        if names.len() > 1 {
            self.path(path.span().start().line, &names);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_macro(&mut self, found: &'ast syn::Macro) {
        if found.path.is_ident("include") {
            self.found.hidden.push((found.span().start().line, "include! hides code from this test".into()));
        }
        self.visit_path(&found.path);
        self.tokens(found.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let line = attribute.span().start().line;
        if attribute.path().is_ident("doc") {
            return;
        }
        if attribute.path().is_ident("path") {
            self.found.hidden.push((line, "#[path] hides where a module is".into()));
        }
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
            // Some attributes name paths in strings.
            for token in list.tokens.clone() {
                if let TokenTree::Literal(literal) = token {
                    let text = literal.to_string();
                    let names: Vec<String> = text.trim_matches('"').split("::").map(str::to_owned).collect();
                    if names.len() > 1 && matches!(names.first().map(String::as_str), Some("crate" | "super" | "self"))
                    {
                        self.path(line, &names);
                    }
                }
            }
        }
    }

    fn visit_expr_unsafe(&mut self, found: &'ast syn::ExprUnsafe) {
        self.found.unsafes.push(found.span().start().line);
        syn::visit::visit_expr_unsafe(self, found);
    }

    fn visit_item_impl(&mut self, found: &'ast syn::ItemImpl) {
        if found.unsafety.is_some() {
            self.found.unsafes.push(found.span().start().line);
        }
        syn::visit::visit_item_impl(self, found);
    }

    fn visit_item_trait(&mut self, found: &'ast syn::ItemTrait) {
        if found.unsafety.is_some() {
            self.found.unsafes.push(found.span().start().line);
        }
        syn::visit::visit_item_trait(self, found);
    }

    fn visit_impl_item_fn(&mut self, found: &'ast syn::ImplItemFn) {
        if is_for_tests(&found.attrs) {
            self.test_lines += found.span().end().line + 1 - found.span().start().line;
            return;
        }
        syn::visit::visit_impl_item_fn(self, found);
    }

    fn visit_signature(&mut self, found: &'ast syn::Signature) {
        if !matches!(found.safety, syn::Safety::Default) {
            self.found.unsafes.push(found.span().start().line);
        }
        if found.asyncness.is_some() {
            self.found.asyncs.push(found.span().start().line);
        }
        syn::visit::visit_signature(self, found);
    }

    fn visit_expr_async(&mut self, found: &'ast syn::ExprAsync) {
        self.found.asyncs.push(found.span().start().line);
        syn::visit::visit_expr_async(self, found);
    }
}
