//! Text for the user: messages, and the session's title.

/// `systemMessage`.
mod said {
    use rutter_contract::output::{HookOutput, ShowsMessage};

    use crate::support::{MARK, check_promise, for_each_capable, run_with_answer};

    fn reaches_the_user<E: ShowsMessage>() {
        let answer = HookOutput::<E>::new().system_message(MARK).answer();
        let Some(record) = run_with_answer::<E>(answer) else { return };
        check_promise::<E>("ShowsMessage", record.reached_user(MARK).is_some(), &record);
        assert_eq!(record.reached_model(MARK), None, "what is for the user is not for the model");
    }

    for_each_capable! {
        ShowsMessage, reaches_the_user,
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
        pre_model_switch: PreModelSwitch,
        post_model_switch: PostModelSwitch,
        permission_request: PermissionRequest,
        permission_denied: PermissionDenied,
        setup: Setup,
        teammate_idle: TeammateIdle,
        task_created: TaskCreated,
        task_completed: TaskCompleted,
        cwd_changed: CwdChanged,
        file_changed: FileChanged,
        directory_added: DirectoryAdded,
    }
}

/// `sessionTitle`.
mod titles {
    use rutter_contract::output::{HookOutput, TakesTitle};

    use crate::support::{MARK, check_promise, for_each_capable, run_with_answer};

    fn names_the_session<E: TakesTitle>() {
        let answer = HookOutput::<E>::new().session_title(MARK).answer();
        let Some(record) = run_with_answer::<E>(answer) else { return };
        let told = record.reached_user(MARK);
        check_promise::<E>("TakesTitle", told.is_some_and(|line| line["title"] == MARK), &record);
    }

    for_each_capable! {
        TakesTitle, names_the_session,
        user_prompt_submit: UserPromptSubmit,
        session_start: SessionStart,
    }
}

/// `displayContent`.
mod display {
    use rutter_check::live::{Conversation, ConversationStep};
    use rutter_contract::input::MessageDisplay;
    use rutter_contract::output::HookOutput;

    use crate::support::{MARK, client, scenario_sandbox};

    #[test]
    fn display_changes_user_text_only() {
        let Some(client) = client() else { return };
        let answer = HookOutput::<MessageDisplay>::new().display(MARK).answer();
        let mut sandbox = scenario_sandbox::<MessageDisplay>(answer);
        let turn = |prompt: &str| {
            [ConversationStep::Prompt(prompt.to_owned()), ConversationStep::TurnEnds]
        };
        sandbox.conversation(Conversation::new([turn("go"), turn("go on")].into_iter().flatten()));
        let record = sandbox.run(&client).unwrap();
        let shown = record.reached_user(MARK).unwrap();
        assert_eq!(shown["message"]["content"][0]["text"], MARK);
        // The `result` message for the user's program has the hook's text too.
        let results = record.lines.iter().filter(|line| line["type"] == "result");
        let results: Vec<_> = results.map(|line| &line["result"]).collect();
        assert_eq!(results, [MARK, "done"]);
        assert_eq!(record.reached_model(MARK), None);
        let own = record.texts_to_model().into_iter().find(|told| told.role == "assistant");
        assert_eq!(own.unwrap().text, "done");
    }
}
