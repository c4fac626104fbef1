//! Runs `file_changes`; does nothing on systems other than Linux, which have no tracer.

#[cfg(target_os = "linux")]
mod file_changes;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[cfg(target_os = "linux")]
    file_changes::change_files()?;
    Ok(())
}
