//! A headless browser for tests.
#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;

/// The names of browser programs. Debian's packages `chromium` and `chromium-driver` have a browser and its driver.
const BROWSER_PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const DRIVER_PROGRAM: &str = "chromedriver";

/// The flags of the browser: it shows no window, and makes no network requests by itself.
const BROWSER_FLAGS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// A running browser and its driver. Call [`stop`](Self::stop) to end them.
#[derive(Debug)]
pub struct Browser {
    /// The connection that controls the browser.
    pub client: Client,
    driver: Child,
    /// The folder of the browser's profile, empty at the start.
    profile: PathBuf,
}

impl Browser {
    /// Starts a browser with an invisible window of this size. Returns `None` if no browser is installed.
    ///
    /// # Errors
    ///
    /// Returns an error if an installed browser does not start.
    pub async fn start(width: u32, height: u32) -> Result<Option<Self>, Box<dyn Error>> {
        let (Some(browser), Some(driver)) =
            (BROWSER_PROGRAMS.into_iter().find_map(find_program), find_program(DRIVER_PROGRAM))
        else {
            return Ok(None);
        };
        let profile = std::env::temp_dir().join(format!("opdispatch-browser-{}", std::process::id()));
        std::fs::create_dir_all(&profile)?;
        let mut driver = Command::new(driver).arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let port = read_driver_port(&mut driver);
        let mut flags: Vec<String> = BROWSER_FLAGS.map(str::to_owned).to_vec();
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

    /// Ends the browser and its driver, and removes the profile.
    ///
    /// # Errors
    ///
    /// Returns an error if one of them does not end.
    pub async fn stop(mut self) -> Result<(), Box<dyn Error>> {
        let closed = self.client.close().await;
        self.driver.kill()?;
        self.driver.wait()?;
        std::fs::remove_dir_all(&self.profile)?;
        Ok(closed?)
    }
}

/// Returns the path of a program, if it is installed.
fn find_program(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(program)).find(|path| Path::is_file(path))
}

/// Returns the port on which a driver listens, from its output.
fn read_driver_port(driver: &mut Child) -> Option<u16> {
    let lines = BufReader::new(driver.stdout.take()?).lines().map_while(Result::ok);
    let mut said = lines.filter_map(|line| line.trim_end_matches('.').rsplit_once("on port ")?.1.parse::<u16>().ok());
    // The driver first prints the requested port, which is 0 for any.
    said.find(|&port| port != 0)
}
