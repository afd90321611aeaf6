# ClickHouse's HTTP interface over chdb, the same engine as a library: statements come as the body, or as `query` with rows as the body.
import base64, http.server, sys, threading, urllib.parse
from chdb import session

engine = session.Session(sys.argv[1])
password = sys.argv[2]
one_at_a_time = threading.Lock()

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get('query', [''])[0]
        body = self.read_body()
        if body is None:
            return
        given = base64.b64decode(self.headers.get('Authorization', '')[len('Basic '):]).decode()
        if given != 'lake:' + password:
            return self.answer(401, b'Code: 516. DB::Exception: lake: Authentication failed. (AUTHENTICATION_FAILED)')
        try:
            with one_at_a_time:
                rows = engine.query((query + '\n' if query else '') + body.decode(), 'TabSeparated').bytes()
            self.answer(200, rows)
        except Exception as error:
            self.answer(500, str(error).encode())

    def read_body(self):
        if self.headers.get('Transfer-Encoding') != 'chunked':
            return self.rfile.read(int(self.headers.get('Content-Length', 0)))
        parts = []
        while True:
            line = self.rfile.readline()
            if not line:
                return None  # The client went away in the middle.
            size = int(line, 16)
            parts.append(self.rfile.read(size))
            self.rfile.readline()
            if size == 0:
                return b''.join(parts)

    def answer(self, status, content):
        self.send_response(status)
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass

# A connection may stay open without a request, so each has its own thread.
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
