//! Parameters: their values, and the tasks that read or write them.

use std::collections::BTreeMap;
use std::sync::Arc;

use triggers::{Parameter, Value};

use crate::TaskId;

/// The index of a parameter in [`Parameters`].
pub(crate) type ParameterId = u32;

/// All parameters named by a task or a value.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    ids: BTreeMap<Arc<Parameter>, ParameterId>,
    known: Vec<KnownParameter>,
}

#[derive(Debug)]
pub(crate) struct KnownParameter {
    pub(crate) name: Arc<Parameter>,
    pub(crate) value: Option<Value>,
    /// Tasks whose trigger reads it.
    pub(crate) readers: Vec<TaskId>,
    /// The readers for which others may be held back.
    pub(crate) holders: Vec<TaskId>,
    /// Tasks with a current run that writes it.
    pub(crate) producers: Vec<TaskId>,
}

impl Parameters {
    /// The id of a parameter; a new one if it has none.
    pub(crate) fn id(&mut self, parameter: &Parameter) -> ParameterId {
        if let Some(id) = self.ids.get(parameter) {
            return *id;
        }
        let id = self.known.len() as ParameterId;
        let name = Arc::new(parameter.clone());
        self.ids.insert(Arc::clone(&name), id);
        let (readers, holders, producers) = (Vec::new(), Vec::new(), Vec::new());
        self.known.push(KnownParameter { name, value: None, readers, holders, producers });
        id
    }

    pub(crate) fn value_of(&self, parameter: &Parameter) -> Option<Value> {
        self.ids.get(parameter).and_then(|id| self.value(*id))
    }

    pub(crate) fn value(&self, id: ParameterId) -> Option<Value> {
        self.known[id as usize].value
    }

    pub(crate) fn get(&self, id: ParameterId) -> &KnownParameter {
        &self.known[id as usize]
    }

    pub(crate) fn get_mut(&mut self, id: ParameterId) -> &mut KnownParameter {
        &mut self.known[id as usize]
    }
}
