//! One suite, two servers: the stage of the template, written out in Python and built in Rust, as a
//! process that Torg would call.

mod checks;
mod process;

use process::{Process, python, rust};

/// A test for each check and server; a server that cannot run here says so.
macro_rules! conformance {
    ($($check:ident),* $(,)?) => {
        mod a_stage_in_python {
            $(#[tokio::test]
            async fn $check() {
                if let Some(process) = super::python().await {
                    super::checks::$check(process).await;
                }
            })*
        }

        mod a_stage_in_rust {
            $(#[tokio::test]
            async fn $check() {
                super::checks::$check(super::rust().await).await;
            })*
        }
    };
}

conformance! {
    describes_itself,
    wishes_to_visit_what_concerns_it,
    answers_each_offer_and_fails_where_it_fails_only,
    uses_its_timer_and_forgets,
    has_its_side_effect_once_a_change_is_saved,
    knows_no_other_stage,
    refuses_calls_without_the_token,
    refuses_a_message_over_the_limit_and_goes_on,
    refuses_a_message_that_unpacks_to_more_than_the_limit,
    ends_in_order_when_it_is_told_to,
}

#[tokio::test]
async fn the_unit_tests_of_a_project_in_python_pass() {
    let Some(python) = process::python_program() else { return };
    let folder = process::python_project();
    let mut tests = tokio::process::Command::new(python);
    tests.args(["-m", "unittest"]).env("PYTHONDONTWRITEBYTECODE", "1").current_dir(folder.path());
    let output = tests.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("Ran 5 tests"), "{said}");
}

/// What the checks need of a server.
impl Process {
    fn refuses(result: Result<impl Sized, connectrpc::ConnectError>, code: connectrpc::ErrorCode) -> String {
        let Err(error) = result else { panic!("not refused with {code:?}") };
        assert_eq!(error.code, code, "{error}");
        error.message.unwrap_or_default()
    }
}
