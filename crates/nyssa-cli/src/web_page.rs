//! Makes pages of HTML from templates. Any browser shows them without a network.

use std::sync::LazyLock;

use minijinja::{Environment, context};
use serde::Serialize;

use crate::units::{count, size};

const STYLE: &str = include_str!("pages/page.css");
const TEMPLATES: [(&str, &str); 5] = [
    ("inspect.html", include_str!("pages/inspect.html")),
    ("page.html", include_str!("pages/page.html")),
    ("profile.html", include_str!("pages/profile.html")),
    ("trace.html", include_str!("pages/trace.html")),
    ("tune.html", include_str!("pages/tune.html")),
];

static PAGES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut pages = Environment::new();
    pages.set_keep_trailing_newline(true);
    pages.add_filter("count", count);
    pages.add_filter("fixed", |number: f64, digits: usize| format!("{number:.digits$}"));
    pages.add_filter("size", size);
    for (name, template) in TEMPLATES {
        // What is wrong with a template is in its page, where tests see it.
        let _ = pages.add_template(name, template);
    }
    pages
});

/// Returns the body of a page. Texts in its content are escaped.
pub(crate) fn body(template: &str, content: impl Serialize) -> String {
    let made = PAGES.get_template(template).and_then(|page| page.render(content));
    made.unwrap_or_else(|error| format!("{error:#}"))
}

/// Returns a whole page.
pub(crate) fn page(title: &str, style: &str, body: &str) -> String {
    self::body("page.html", context! { title, style => format!("{STYLE}{style}"), body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_read() {
        for (name, _) in TEMPLATES {
            PAGES.get_template(name).unwrap();
        }
    }
}
