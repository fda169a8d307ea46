//! A browser without a window, for a test.
#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;

/// The programs that a browser needs, which Debian's packages `chromium` and `chromium-driver` bring.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const DRIVER: &str = "chromedriver";

/// What a browser is started with: it shows no window and asks the network for nothing of its own.
const FLAGS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// A browser that ends with this.
#[derive(Debug)]
pub struct Browser {
    /// Who is told what to do.
    pub client: Client,
    driver: Child,
    /// What it remembers, which is nothing at first.
    profile: PathBuf,
}

impl Browser {
    /// Starts one with a window of this size that nobody sees, or says `None` where no browser is installed.
    ///
    /// # Errors
    ///
    /// Where there is one that does not start.
    pub async fn start(width: u32, height: u32) -> Result<Option<Self>, Box<dyn Error>> {
        let (Some(browser), Some(driver)) = (BROWSERS.into_iter().find_map(installed), installed(DRIVER)) else {
            return Ok(None);
        };
        let profile = std::env::temp_dir().join(format!("opdispatch-browser-{}", std::process::id()));
        std::fs::create_dir_all(&profile)?;
        let mut driver = Command::new(driver).arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let port = port(&mut driver);
        let mut flags: Vec<String> = FLAGS.map(str::to_owned).to_vec();
        flags.extend([format!("--user-data-dir={}", profile.display()), format!("--window-size={width},{height}")]);
        let options = json!({ "goog:chromeOptions": { "binary": browser, "args": flags } });
        let connected = match (port, options.as_object()) {
            (Some(port), Some(options)) => {
                let address = format!("http://localhost:{port}");
                let mut builder = ClientBuilder::new(HttpConnector::new());
                builder.capabilities(options.clone()).connect(&address).await.map_err(Box::<dyn Error>::from)
            }
            _ => Err("the driver does not say on which port it listens".into()),
        };
        match connected {
            Ok(client) => Ok(Some(Self { client, driver, profile })),
            Err(error) => {
                driver.kill()?;
                driver.wait()?;
                Err(error)
            }
        }
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// Where it does not end.
    pub async fn stop(mut self) -> Result<(), Box<dyn Error>> {
        let closed = self.client.close().await;
        self.driver.kill()?;
        self.driver.wait()?;
        std::fs::remove_dir_all(&self.profile)?;
        Ok(closed?)
    }
}

/// Where a program is, if it is anywhere.
fn installed(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(program)).find(|path| Path::is_file(path))
}

/// The port that a driver chose, which it says when it listens.
fn port(driver: &mut Child) -> Option<u16> {
    let lines = BufReader::new(driver.stdout.take()?).lines().map_while(Result::ok);
    let mut said = lines.filter_map(|line| line.trim_end_matches('.').rsplit_once("on port ")?.1.parse::<u16>().ok());
    // It says first which one it was asked for, and that is none.
    said.find(|&port| port != 0)
}
