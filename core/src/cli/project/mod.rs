//! Two read-only tools for looking around in a project: `project_info` and `file_read`.
//!
//! Both are confined to one folder: relative paths only, no `..`, no symbolic link that leads out, and no file that
//! usually holds secrets. They write nothing, run nothing and never leave the folder. The command registers them; the
//! examples use them too.

mod info;
mod read;
mod root;
mod walk;

pub use root::ProjectRoot;

use crate::error::Error;
use crate::tool::{FnTool, Routing, Tool, ToolError, tool_fn};
use std::sync::Arc;

/// The two tools for one folder, ready for an agent.
///
/// ```
/// use cheliped::Agent;
/// use cheliped::cli::project;
/// use cheliped::provider::ScriptedProvider;
///
/// let tools = project::tools(&project::ProjectRoot::open(".")?)?;
/// let agent = Agent::builder().provider(ScriptedProvider::new()).tools(tools).build()?;
/// assert_eq!(agent.tool_names(), ["project_info".into(), "file_read".into()]);
/// # Ok::<(), cheliped::Error>(())
/// ```
///
/// # Errors
/// None in practice: the schemas are part of the program.
pub fn tools(root: &ProjectRoot) -> Result<Vec<Arc<dyn Tool>>, Error> {
    Ok(vec![Arc::new(project_info(root)?), Arc::new(file_read(root)?)])
}

fn project_info(root: &ProjectRoot) -> Result<FnTool, Error> {
    let root = root.clone();
    let description = "Describe the project in the current folder: its name, README title, kind, languages, number and \
                       size of files, and a tree of its folders. Use first when asked about the project as a whole.";
    let tool = tool_fn("project_info", description, move |request: info::Request, context| {
        let root = root.clone();
        async move {
            let signal = context.signal().clone();
            on_a_file_thread(move || info::describe(&root, &request, &|| signal.is_cancelled())).await
        }
    })?;
    let routing = Routing {
        domains: words("project"),
        tags: words("project folder files languages packages structure tree size"),
        ..Routing::default()
    };
    Ok(tool.read_only().idempotent().routing(routing))
}

fn file_read(root: &ProjectRoot) -> Result<FnTool, Error> {
    let root = root.clone();
    let description = "Read a text file of the project, with line numbers. Reads a page of lines at a time; with \
                       search it gives, and counts, only the lines that contain a text, in one file or in all files \
                       of a folder. Use to read, open, view or show a file, or to count or find lines.";
    let tool = tool_fn("file_read", description, move |request: read::Request, context| {
        let root = root.clone();
        async move {
            let signal = context.signal().clone();
            on_a_file_thread(move || read::read(&root, &request, &|| signal.is_cancelled())).await
        }
    })?;
    let routing = Routing {
        domains: words("filesystem"),
        tags: words("read open file contents view show lines search count"),
        ..Routing::default()
    };
    Ok(tool.read_only().idempotent().routing(routing))
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Runs file work where it may block. Work that nobody waits for any more sees its signal and ends.
async fn on_a_file_thread(
    work: impl FnOnce() -> Result<String, ToolError> + Send + 'static,
) -> Result<String, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(ToolError::internal("the file thread ended without a result", error)),
    }
}

#[cfg(test)]
mod tests;
