//! Helpers for tests: scripted sources, collecting sinks, case readers
