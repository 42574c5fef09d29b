//! Text for the model: as `additionalContext`, and as plain stdout.

/// `additionalContext`.
mod in_json {
    use rutter_contract::output::{HookOutput, TakesContext};

    use crate::support::{MARK, check_promise, for_each_capable, run_with_answer};

    fn reaches_the_model<E: TakesContext>() {
        let answer = HookOutput::<E>::new().context(MARK).answer();
        let Some(record) = run_with_answer::<E>(answer) else { return };
        check_promise::<E>("TakesContext", record.reached_model(MARK).is_some(), &record);
    }

    for_each_capable! {
        TakesContext, reaches_the_model,
        pre_tool_use: PreToolUse,
        post_tool_use: PostToolUse,
        post_tool_use_failure: PostToolUseFailure,
        post_tool_batch: PostToolBatch,
        user_prompt_submit: UserPromptSubmit,
        user_prompt_expansion: UserPromptExpansion,
        session_start: SessionStart,
        stop: Stop,
        subagent_start: SubagentStart,
        subagent_stop: SubagentStop,
        post_model_switch: PostModelSwitch,
    }
}

/// Plain stdout.
mod plain {
    use rutter_contract::output::{HookOutput, SpeaksPlainly};

    use crate::support::{MARK, check_promise, for_each_capable, run_with_answer};

    fn reaches_the_model<E: SpeaksPlainly>() {
        let Some(record) = run_with_answer::<E>(HookOutput::<E>::plain(MARK)) else { return };
        check_promise::<E>("SpeaksPlainly", record.reached_model(MARK).is_some(), &record);
    }

    for_each_capable! {
        SpeaksPlainly, reaches_the_model,
        user_prompt_submit: UserPromptSubmit,
        user_prompt_expansion: UserPromptExpansion,
        session_start: SessionStart,
        pre_compact: PreCompact,
        post_compact: PostCompact,
        post_model_switch: PostModelSwitch,
    }
}

/// The request that contains the context, and the text around it.
mod place {
    use rutter_check::live::ModelThread;
    use rutter_check::live::scenario::SUBAGENT_MARKER;
    use rutter_contract::input::{PreCompact, PreToolUse, SubagentStart, UserPromptSubmit};
    use rutter_contract::output::HookOutput;

    use crate::support::{MARK, run_with_answer};

    #[test]
    fn prompt_context_joins_prompt() {
        let answer = HookOutput::<UserPromptSubmit>::new().context(MARK).answer();
        let Some(record) = run_with_answer::<UserPromptSubmit>(answer) else { return };
        let told = record.reached_model(MARK).unwrap();
        assert_eq!(told.request, 0);
        assert!(told.text.contains("UserPromptSubmit hook additional context: "), "{told:?}");
    }

    #[test]
    fn call_context_follows_result() {
        let answer = HookOutput::<PreToolUse>::new().context(MARK).answer();
        let Some(record) = run_with_answer::<PreToolUse>(answer) else { return };
        assert_eq!(record.reached_model(MARK).unwrap().request, 1);
    }

    #[test]
    fn subagent_context_reaches_subagent_only() {
        let answer = HookOutput::<SubagentStart>::new().context(MARK).answer();
        let Some(record) = run_with_answer::<SubagentStart>(answer) else { return };
        let told = record.texts_to_model().into_iter().filter(|told| told.text.contains(MARK));
        let threads: Vec<&ModelThread> = told.map(|told| told.thread).collect();
        assert_eq!(threads, [&ModelThread::Subagent(SUBAGENT_MARKER.to_owned())]);
    }

    #[test]
    fn compaction_request_has_instructions() {
        let answer = HookOutput::<PreCompact>::plain(MARK);
        let Some(record) = run_with_answer::<PreCompact>(answer) else { return };
        let told = record.reached_model(MARK).unwrap();
        assert!(told.text.contains("summary"), "{told:?}");
    }

    #[test]
    fn longest_text_is_not_cut() {
        let long = format!("{MARK}{}END-{MARK}", "漢".repeat(10_000 - 2 * MARK.len() - 4));
        let answer = HookOutput::<UserPromptSubmit>::new().context(&long).answer();
        let Some(record) = run_with_answer::<UserPromptSubmit>(answer) else { return };
        assert!(record.reached_model(&long).is_some());
    }
}
