//! Arguments of runners, and their effect on the selection of tests.

/// The effect of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagEffect {
    /// Affects only output or speed.
    Shows,
    /// Sets features, tags, a configuration file or similar. Runs with different settings are different runs.
    Sets,
    /// Selects by a pattern over names.
    SelectsName,
    /// Selects by a path.
    SelectsPath,
    /// Selects a package.
    SelectsPackage,
    /// Excludes the tests that its value names.
    Excludes,
    /// Excludes tests that the line does not name: `--lib`, `--lf`.
    Narrows,
    /// Selects everything: `--workspace`.
    Everything,
    /// Ends the run at its first failure.
    StopsEarly,
    /// Continues the run after a failure.
    GoesOn,
}

/// The meaning of plain words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operands {
    /// Paths of files or folders, optionally with the name of a test after `::` or `:`.
    Paths,
    /// Parts of paths: every file with the word in its path.
    PathParts,
    /// Parts of test names.
    NameParts,
    /// Packages of Go: `./cart`, `./...`, an import path.
    GoPackages,
    /// Modules, classes or tests of Python, joined by dots.
    DottedNames,
    /// Anything else, such as goals or targets. Two runs with different ones are different runs.
    Targets,
}

/// The syntax of a name pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamePattern {
    /// pytest's `-k`: words joined by `and`, `or` and `not`, searched without case.
    Keywords,
    /// A regular expression, or plain text.
    Regex,
    /// Go's `-run`: a regular expression for each level of subtests.
    GoRun,
    /// A syntax that is not supported here.
    Opaque,
}

/// The arguments of a runner. Flags are separated by blanks; one that takes a value ends in `=`, for both
/// `--flag=value` and `--flag value`. A flag in no list has the effect [`FlagEffect::Sets`].
#[derive(Debug)]
pub struct RunnerArguments {
    /// The meaning of plain words.
    pub operands: Operands,
    /// The syntax of the patterns of `names`.
    pub pattern: NamePattern,
    /// True if a run without operands includes everything below its folder, rather than one package.
    pub runs_all_below: bool,
    /// True if it ends at its first failure by default.
    pub stops_by_default: bool,
    /// True if tests that a name pattern excludes are counted as skipped.
    pub counts_others_as_skipped: bool,
    /// Flags of [`FlagEffect::Shows`].
    pub shows: &'static str,
    /// Flags of [`FlagEffect::Sets`] that take a value.
    pub sets: &'static str,
    /// Flags of [`FlagEffect::SelectsName`].
    pub names: &'static str,
    /// Flags of [`FlagEffect::SelectsPath`].
    pub paths: &'static str,
    /// Flags of [`FlagEffect::SelectsPackage`].
    pub packages: &'static str,
    /// Flags of [`FlagEffect::Excludes`].
    pub excludes: &'static str,
    /// Flags of [`FlagEffect::Narrows`].
    pub narrows: &'static str,
    /// Flags of [`FlagEffect::Everything`].
    pub everything: &'static str,
    /// Flags of [`FlagEffect::StopsEarly`].
    pub stops: &'static str,
    /// Flags of [`FlagEffect::GoesOn`].
    pub goes_on: &'static str,
}

/// Flags with the same meaning for every runner that has them.
const COMMON_SHOWS: &str = "--verbose --quiet --silent --no-color --color --colors --no-progress --progress -- run \
     --nocapture --no-capture --show-output --ci --no-coverage";

const NO_ARGUMENTS: RunnerArguments = RunnerArguments {
    operands: Operands::Targets,
    pattern: NamePattern::Opaque,
    runs_all_below: true,
    stops_by_default: true,
    counts_others_as_skipped: false,
    shows: "",
    sets: "",
    names: "",
    paths: "",
    packages: "",
    excludes: "",
    narrows: "",
    everything: "",
    stops: "",
    goes_on: "",
};

/// The arguments of an unknown program.
pub const UNKNOWN_ARGUMENTS: RunnerArguments =
    RunnerArguments { shows: "-j= --jobs= -s -k --no-print-directory", ..NO_ARGUMENTS };

/// A linter or type checker that takes paths and lists all findings.
pub(super) const CHECKER: RunnerArguments = RunnerArguments {
    operands: Operands::Paths,
    stops_by_default: false,
    shows: "-q -v --output-format= --format= --format -f= --noEmit --pretty --no-pretty --statistics --show-source \
            --error-format= --message-format= -j= --jobs= --max-warnings= --cache --no-cache --stylish --no-fix \
            --show-fixes --output= --reporter= --max-diagnostics= --diagnostic-level= --check --diff",
    sets: "--config= -c= --config-file= --select= --ignore= --extend-select= -p= --project= --ext= --rulesdir= \
           --target-version= --python-version= --enable= --disable= -E= -D= --timeout= --build-tags=",
    excludes: "--exclude= --ignore-pattern= --ignore-path=",
    narrows: "--changed --staged --new --new-from-rev= --fast",
    ..NO_ARGUMENTS
};

/// tsc. Its project selects the checked files.
pub(super) const TSC: RunnerArguments =
    RunnerArguments { paths: "-p= --project=", sets: "--target= --module=", ..CHECKER };

pub(super) const PYTEST: RunnerArguments = RunnerArguments {
    operands: Operands::Paths,
    pattern: NamePattern::Keywords,
    stops_by_default: false,
    shows: "-v -vv -vvv -q -qq -s -l -ra -rA --tb= --durations= --no-header --no-summary --trace --full-trace \
            --showlocals --disable-warnings --capture= --timeout= -n= --numprocesses= --dist= --cov= --cov --cov-report= \
            --no-cov --junitxml= --color= --reruns= -W= --ff --failed-first --nf --new-first --cache-clear",
    sets: "-m= -c= --config-file= --rootdir= -p= -o= --override-ini= --confcutdir=",
    names: "-k=",
    excludes: "--deselect= --ignore= --ignore-glob=",
    narrows: "--lf --last-failed --sw --stepwise --stepwise-skip",
    stops: "-x --exitfirst --maxfail= --sw --stepwise",
    ..NO_ARGUMENTS
};

pub(super) const UNITTEST: RunnerArguments = RunnerArguments {
    operands: Operands::DottedNames,
    pattern: NamePattern::Opaque,
    stops_by_default: false,
    shows: "-v -q -b --buffer --locals discover -s= -t= -p= --parallel= --keepdb --noinput --timing --verbosity=",
    sets: "--settings= --tag=",
    names: "-k=",
    excludes: "--exclude-tag=",
    stops: "-f --failfast",
    ..NO_ARGUMENTS
};

pub(super) const CARGO: RunnerArguments = RunnerArguments {
    operands: Operands::NameParts,
    pattern: NamePattern::Opaque,
    runs_all_below: false,
    shows: "-v -vv -q --test-threads= -j= --jobs= --color= --format= --message-format= --report-time --keep-going \
            --locked --offline --frozen --no-capture --status-level= --final-status-level= --failure-output= --success-output= --retries= --progress=",
    sets: "--features= -F= --profile= -P= --cargo-profile= --manifest-path= --target= --config= --target-dir= -D= -W= -A= -Z= --release",
    names: "-E= --filter-expr= --filterset=",
    packages: "-p= --package=",
    excludes: "--skip= --exclude=",
    narrows: "--lib --bin= --bins --test= --tests --doc --example= --examples --bench= --benches --exact",
    everything: "--workspace --all",
    goes_on: "--no-fail-fast --keep-going -k",
    ..NO_ARGUMENTS
};

pub(super) const NEXTEST: RunnerArguments =
    RunnerArguments { counts_others_as_skipped: true, ..CARGO };

pub(super) const GO: RunnerArguments = RunnerArguments {
    operands: Operands::GoPackages,
    pattern: NamePattern::GoRun,
    runs_all_below: false,
    stops_by_default: false,
    shows: "-v -json -timeout= --timeout= -count= -parallel= -p= -cover -coverprofile= -covermode= -x -o= -race --format= \
            -trimpath -ldflags= --junitfile= --hide-summary=",
    sets: "-tags= -mod= -modfile= -exec= -bench= -gcflags= -C=",
    names: "-run=",
    excludes: "-skip=",
    narrows: "-short",
    stops: "-failfast",
    ..NO_ARGUMENTS
};

pub(super) const JEST: RunnerArguments = RunnerArguments {
    operands: Operands::PathParts,
    pattern: NamePattern::Regex,
    stops_by_default: false,
    counts_others_as_skipped: true,
    shows: "-i --runInBand --forceExit --detectOpenHandles --verbose --coverage --coverage= --reporters= --reporter= \
            --watch=false --watchAll=false --watch --run -w= --maxWorkers= --no-cache --passWithNoTests --logHeapUsage \
            --testTimeout= --no-file-parallelism --hideSkippedTests --silent --colors --outputFile= --expand",
    sets: "-c= --config= --env= --environment= --rootDir= --root= --dir= --mode= --project= --selectProjects= --pool=",
    names: "-t= --testNamePattern=",
    paths: "--testPathPattern= --testPathPatterns= --runTestsByPath --findRelatedTests",
    excludes: "--testPathIgnorePatterns= --exclude=",
    narrows: "-o --onlyChanged --onlyFailures -f --changed --changedSince= --shard=",
    stops: "-b --bail --bail=",
    ..NO_ARGUMENTS
};

pub(super) const MOCHA: RunnerArguments = RunnerArguments {
    operands: Operands::PathParts,
    pattern: NamePattern::Regex,
    stops_by_default: false,
    shows: "-R= --reporter= --timeout= -t= --full-trace --exit --no-exit --slow= --recursive --retries= -C -c --parallel \
            -j= --jobs= -O= --reporter-options=",
    sets: "-r= --require= --config= --extension= --spec= --import= --loader= -p= --opts=",
    names: "-g= --grep= -f= --fgrep=",
    excludes: "-i --invert --exclude= --ignore=",
    stops: "-b --bail",
    ..NO_ARGUMENTS
};

/// node --test, bun test, deno test, playwright, ava and cypress. Their flags do not contradict each other.
pub(super) const JS_TEST: RunnerArguments = RunnerArguments {
    operands: Operands::PathParts,
    pattern: NamePattern::Regex,
    stops_by_default: false,
    counts_others_as_skipped: true,
    shows: "--reporter= --timeout= --retries= -j= --workers= --headed --headless --trace= --coverage --coverage= --rerun-each= \
            --test-reporter= --test-concurrency= --experimental-test-coverage --ui --debug --browser= --quiet -A \
            --allow-all --allow-read --allow-net --allow-env --no-check --concurrency= --preload=",
    sets: "--config= -c= --project= --import= --loader= --experimental-test-isolation= --env= --spec=",
    names: "-g= --grep= --test-name-pattern= -t= --filter= --match= -m=",
    excludes: "--grep-invert= --test-skip-pattern= --ignore=",
    narrows: "--only --test-only --only-changed --last-failed --shard= --todo",
    stops: "-x -b --bail --bail= --max-failures= --fail-fast --fail-fast=",
    ..NO_ARGUMENTS
};

pub(super) const RSPEC: RunnerArguments = RunnerArguments {
    operands: Operands::Paths,
    pattern: NamePattern::Regex,
    stops_by_default: false,
    shows: "-f= --format= --color --no-color -b --backtrace --profile --order= --seed= -v -d --verbose --colors= --testdox",
    sets: "-r= --require= -I= -t= --tag= -c= --configuration= --bootstrap= -P= --pattern= --group= --testsuite=",
    names: "-e= --example= --filter= -n= --name=",
    excludes: "--exclude-pattern= --exclude-group=",
    narrows: "--only-failures --next-failure",
    stops: "--fail-fast --fail-fast= --stop-on-failure --stop-on-error -x",
    ..NO_ARGUMENTS
};

pub(super) const CTEST: RunnerArguments = RunnerArguments {
    operands: Operands::Targets,
    pattern: NamePattern::Regex,
    stops_by_default: false,
    shows: "--output-on-failure -V -VV --verbose -j= --parallel= --timeout= -Q --progress --no-label-summary --test-dir=",
    sets: "-C= --build-config= -L= -LE= --preset=",
    names: "-R= --tests-regex=",
    excludes: "-E= --exclude-regex=",
    narrows: "--rerun-failed -I=",
    stops: "--stop-on-failure",
    ..NO_ARGUMENTS
};

pub(super) const DOTNET: RunnerArguments = RunnerArguments {
    operands: Operands::Targets,
    pattern: NamePattern::Opaque,
    stops_by_default: false,
    shows: "-v= --verbosity= --nologo --no-restore --no-build -l= --logger= --collect= --blame --results-directory=",
    sets: "-c= --configuration= -f= --framework= -r= --runtime= -s= --settings=",
    names: "--filter=",
    ..NO_ARGUMENTS
};

/// Maven and Gradle: goals, and tests by class.
pub(super) const JVM: RunnerArguments = RunnerArguments {
    operands: Operands::Targets,
    pattern: NamePattern::Opaque,
    shows: "-q -B -e -X --no-transfer-progress -ntp --console= --info --debug --stacktrace --no-daemon --daemon --rerun-tasks \
            --parallel -T= --warning-mode= -i -s",
    sets: "-f= -P= -p= --project-dir=",
    names: "--tests= -Dtest= -Dit.test=",
    packages: "-pl= --projects=",
    excludes: "-x= --exclude-task=",
    goes_on: "--continue --fail-at-end -fae --fail-never -fn",
    ..NO_ARGUMENTS
};

impl RunnerArguments {
    /// Returns the effect of a flag, and true if it takes a value. `flag` has no value joined to it.
    pub fn effect(&self, flag: &str) -> (FlagEffect, bool) {
        let lists = [
            (self.stops, FlagEffect::StopsEarly),
            (self.goes_on, FlagEffect::GoesOn),
            (self.names, FlagEffect::SelectsName),
            (self.paths, FlagEffect::SelectsPath),
            (self.packages, FlagEffect::SelectsPackage),
            (self.excludes, FlagEffect::Excludes),
            (self.narrows, FlagEffect::Narrows),
            (self.everything, FlagEffect::Everything),
            (self.sets, FlagEffect::Sets),
            (self.shows, FlagEffect::Shows),
            (COMMON_SHOWS, FlagEffect::Shows),
        ];
        for (list, effect) in lists {
            // A flag that is listed both with and without a value has its value joined to it.
            let (mut plain, mut valued) = (false, false);
            for listed in list.split_ascii_whitespace() {
                match listed.strip_suffix('=') {
                    Some(listed) => valued |= listed == flag,
                    None => plain |= listed == flag,
                }
            }
            if plain || valued {
                return (effect, valued && !plain);
            }
        }
        (FlagEffect::Sets, false)
    }

    /// Returns true if a flag is in one of the lists.
    pub fn is_listed(&self, flag: &str) -> bool {
        let lists = [
            self.stops,
            self.goes_on,
            self.names,
            self.paths,
            self.packages,
            self.excludes,
            self.narrows,
            self.everything,
            self.sets,
            self.shows,
            COMMON_SHOWS,
        ];
        lists.iter().any(|list| {
            list.split_ascii_whitespace().any(|listed| listed.trim_end_matches('=') == flag)
        })
    }
}

/// Flags that select a part of the tests, by their value, with most runners that have them.
const NARROWING_FLAGS: &[&str] = &[
    "-p",
    "--package",
    "--test",
    "--bin",
    "--example",
    "--bench",
    "-E",
    "--filter-expr",
    "-k",
    "-m",
    "-t",
    "--testNamePattern",
    "--testPathPattern",
    "--testPathPatterns",
    "-run",
    "--run",
    "--grep",
    "-g",
    "--filter",
    "--tests",
    "-R",
    "-Dtest",
    "--project",
    "--only",
];

/// Returns true if a flag takes a value with most runners that have it, for a text that does not name the runner.
pub fn usually_takes_value(flag: &str) -> bool {
    NARROWING_FLAGS.contains(&flag)
        || matches!(
            flag,
            "--skip"
                | "--deselect"
                | "--ignore"
                | "--exclude"
                | "--testPathIgnorePatterns"
                | "-skip"
                | "--features"
                | "-n"
                | "-j"
                | "-F"
        )
}
