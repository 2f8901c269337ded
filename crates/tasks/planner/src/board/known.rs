//! Parameters: their values, and which tasks have to do with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use triggers::{Parameter, Value};

use super::TaskId;

/// The place of a parameter in the [`Catalogue`].
pub(super) type ParameterId = u32;

/// All parameters that a task or a value has named.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    ids: BTreeMap<Arc<Parameter>, ParameterId>,
    known: Vec<Known>,
}

/// What is known of a parameter.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: Arc<Parameter>,
    pub(super) value: Option<Value>,
    /// Tasks whose trigger looks at it.
    pub(super) readers: Vec<TaskId>,
    /// Those of them for which others may be held back.
    pub(super) holders: Vec<TaskId>,
    /// Tasks with a run under way that moves it.
    pub(super) producers: Vec<TaskId>,
}

impl Catalogue {
    /// The place of a parameter, which it gets if it has none.
    pub(super) fn id(&mut self, parameter: &Parameter) -> ParameterId {
        if let Some(id) = self.ids.get(parameter) {
            return *id;
        }
        let id = self.known.len() as ParameterId;
        let name = Arc::new(parameter.clone());
        self.ids.insert(Arc::clone(&name), id);
        let (readers, holders, producers) = (Vec::new(), Vec::new(), Vec::new());
        self.known.push(Known { name, value: None, readers, holders, producers });
        id
    }

    /// The value of a parameter, by its name.
    pub(super) fn value_of(&self, parameter: &Parameter) -> Option<Value> {
        self.ids.get(parameter).and_then(|id| self.value(*id))
    }

    pub(super) fn value(&self, id: ParameterId) -> Option<Value> {
        self.known[id as usize].value
    }

    pub(super) fn get(&self, id: ParameterId) -> &Known {
        &self.known[id as usize]
    }

    pub(super) fn get_mut(&mut self, id: ParameterId) -> &mut Known {
        &mut self.known[id as usize]
    }
}
