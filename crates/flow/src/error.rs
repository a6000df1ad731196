//! Why a rule cannot be started.

use rekuiper_connect::ConnectError;

/// Whose fault it is, as the numeric codes of the REST API tell it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    /// The statement, the options, the plan.
    #[error("{0}")]
    Rule(String),
    /// A source or a sink cannot be set up.
    #[error("{0}")]
    Connector(String),
    /// Something asked for is not there.
    #[error("{0}")]
    NotFound(String),
}

impl From<ConnectError> for FlowError {
    fn from(e: ConnectError) -> Self {
        FlowError::Connector(e.text)
    }
}
