//! Tests of the real binary from its users' side: the command line, the port, the console, the
//! demo, the documentation.

mod common;

mod access;
mod catalog;
mod cli;
mod commands;
mod console;
mod ctl;
mod demo;
mod docs;
mod doctor;
mod feed_check;
mod feed_cli;
mod feeds;
mod first_day;
mod first_stage;
mod house;
mod observe;
mod own_values;
mod photos;
mod photos_route;
mod serve;
mod shutdown;
mod stages_cli;
mod stages_file;
mod stages_new;
mod stages_under_load;
mod store;
mod tasks;
mod tasks_killed;
mod tasks_offline;
mod upgrade;
