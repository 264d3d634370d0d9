# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that examines pages of a folder in frames of several widths."""

import contextlib
import functools
import html
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import threading
import urllib.parse

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
EXAMINER = pathlib.Path(__file__).with_name("examiner.html")
_CONSOLE = re.compile(r"CONSOLE[^\]]*\] (\".*\", source: \S+ \(\d+\))")


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.partition("?")[0] != "/examiner.html":
            return super().do_GET()
        content = EXAMINER.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextlib.contextmanager
def served(folder):
    """Starts a server for the folder's files and examiner.html, and yields the server's address."""
    handler = functools.partial(_Silent, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def chromium(profile, *arguments, timeout=300):
    command = [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr",
               f"--user-data-dir={profile}", "--hide-scrollbars", *arguments]  # fmt: skip
    result = subprocess.run([str(argument) for argument in command], capture_output=True, text=True, timeout=timeout)
    assert result.returncode == 0, result.stderr
    return result


def examine(folder, profile, pages, widths, queries):
    """Returns (JSON of examiner.html, messages of the browser's console). The JSON contains the findings for each page
    and width, and the results of each search. pages: paths below the folder. queries: the words of each search."""
    with served(folder) as address:
        query_string = urllib.parse.urlencode({"page": pages, "width": widths, "query": queries}, doseq=True)
        result = chromium(profile, "--virtual-time-budget=600000", "--dump-dom", f"{address}/examiner.html?{query_string}")
    match = re.search(r'<pre id="result">(.*?)</pre>', result.stdout, re.DOTALL)
    assert match and match[1], result.stdout[-2000:] + result.stderr[-2000:]
    return json.loads(html.unescape(match[1])), _CONSOLE.findall(result.stderr)


def screenshot(folder, profile, page, width, height, file, dark=False):
    """Writes a picture of the upper part of a page, in a frame of this width [px], to a PNG file."""
    options = ["--blink-settings=preferredColorScheme=0"] if dark else []
    with served(folder) as address:
        chromium(profile, *options, f"--window-size={max(width, 500)},{height}", "--virtual-time-budget=10000", f"--screenshot={file}",
                 f"{address}/examiner.html?show={page}&width={width}&height={height}")  # fmt: skip
