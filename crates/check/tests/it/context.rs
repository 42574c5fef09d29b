//! Text for the model: as `additionalContext`, and as plain stdout.

/// `additionalContext`.
mod in_json {
    use rutter_contract::output::{HookOutput, TakesContext};

    use crate::support::{MARK, answered, for_each_capable, promise};

    fn reaches_the_model<E: TakesContext>() {
        let answer = HookOutput::<E>::new().context(MARK).answer();
        let Some(record) = answered::<E>(answer) else { return };
        promise::<E>("TakesContext", record.reached_model(MARK).is_some(), &record);
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

    use crate::support::{MARK, answered, for_each_capable, promise};

    fn reaches_the_model<E: SpeaksPlainly>() {
        let Some(record) = answered::<E>(HookOutput::<E>::plain(MARK)) else { return };
        promise::<E>("SpeaksPlainly", record.reached_model(MARK).is_some(), &record);
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
    use rutter_check::live::Thread;
    use rutter_check::live::scenario::SUBAGENT;
    use rutter_contract::input::{PreCompact, PreToolUse, SubagentStart, UserPromptSubmit};
    use rutter_contract::output::HookOutput;

    use crate::support::{MARK, answered};

    #[test]
    fn a_prompts_context_comes_with_the_prompt() {
        let answer = HookOutput::<UserPromptSubmit>::new().context(MARK).answer();
        let Some(record) = answered::<UserPromptSubmit>(answer) else { return };
        let told = record.reached_model(MARK).unwrap();
        assert_eq!(told.request, 0);
        assert!(told.text.contains("UserPromptSubmit hook additional context: "), "{told:?}");
    }

    #[test]
    fn a_calls_context_comes_after_its_result() {
        let answer = HookOutput::<PreToolUse>::new().context(MARK).answer();
        let Some(record) = answered::<PreToolUse>(answer) else { return };
        assert_eq!(record.reached_model(MARK).unwrap().request, 1);
    }

    #[test]
    fn a_subagents_context_goes_to_the_subagent() {
        let answer = HookOutput::<SubagentStart>::new().context(MARK).answer();
        let Some(record) = answered::<SubagentStart>(answer) else { return };
        let told = record.texts_to_model().into_iter().filter(|told| told.text.contains(MARK));
        let threads: Vec<&Thread> = told.map(|told| told.thread).collect();
        assert_eq!(threads, [&Thread::Subagent(SUBAGENT.to_owned())]);
    }

    #[test]
    fn instructions_for_a_compaction_are_in_its_request() {
        let answer = HookOutput::<PreCompact>::plain(MARK);
        let Some(record) = answered::<PreCompact>(answer) else { return };
        let told = record.reached_model(MARK).unwrap();
        assert!(told.text.contains("summary"), "{told:?}");
    }

    #[test]
    fn the_longest_text_passes_whole() {
        let long = format!("{MARK}{}END-{MARK}", "漢".repeat(10_000 - 2 * MARK.len() - 4));
        let answer = HookOutput::<UserPromptSubmit>::new().context(&long).answer();
        let Some(record) = answered::<UserPromptSubmit>(answer) else { return };
        assert!(record.reached_model(&long).is_some());
    }
}
