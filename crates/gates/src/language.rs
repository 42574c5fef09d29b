//! The languages with rules for tests.

use rutter_redact::choice;

choice! {
    /// A language whose test layouts are known.
    Language, "language" {
        /// Rust
        Rust = "rust",
        /// Python
        Python = "python",
        /// JavaScript and TypeScript, with their component files
        JavaScript = "javascript",
        /// Go
        Go = "go",
        /// Java, Kotlin, Groovy and Scala
        Jvm = "jvm",
        /// C#
        CSharp = "csharp",
        /// Ruby
        Ruby = "ruby",
        /// PHP
        Php = "php",
        /// C, C++ and Objective-C
        C = "c",
        /// Swift
        Swift = "swift",
        /// Elixir
        Elixir = "elixir",
    }
}

impl Language {
    /// Returns the language of a file extension.
    pub fn from_extension(extension: &str) -> Option<Self> {
        let language = match extension {
            "rs" => Self::Rust,
            "py" => Self::Python,
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => {
                Self::JavaScript
            }
            "go" => Self::Go,
            "java" | "kt" | "groovy" | "scala" => Self::Jvm,
            "cs" => Self::CSharp,
            "rb" => Self::Ruby,
            "php" => Self::Php,
            "c" | "cc" | "cpp" | "cxx" | "c++" | "m" | "mm" | "h" | "hh" | "hpp" | "hxx" => Self::C,
            "swift" => Self::Swift,
            "ex" => Self::Elixir,
            _ => return None,
        };
        Some(language)
    }

    /// Returns the extensions that a test of this language may have. The first one is the usual one.
    pub fn test_extensions(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["rs"],
            Self::Python => &["py"],
            Self::JavaScript => &["ts", "tsx", "js", "jsx", "mts", "cts", "mjs", "cjs"],
            Self::Go => &["go"],
            Self::Jvm => &["java", "kt", "groovy", "scala"],
            Self::CSharp => &["cs"],
            Self::Ruby => &["rb"],
            Self::Php => &["php"],
            Self::C => &["c", "cc", "cpp", "cxx", "m", "mm"],
            Self::Swift => &["swift"],
            Self::Elixir => &["exs"],
        }
    }

    /// Returns the sign that begins a comment of one line.
    pub fn line_comment(self) -> &'static str {
        match self {
            Self::Python | Self::Ruby | Self::Elixir => "#",
            _ => "//",
        }
    }
}
