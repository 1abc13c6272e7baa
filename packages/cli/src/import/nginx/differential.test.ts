import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gwInProcess } from '../../testing/in-process.js'
import { closedPort, origin, scratch, startGateway, until } from '../../testing.js'

const skip =
  spawnSync('nginx', ['-v']).error === undefined
    ? false
    : 'nginx is not installed (apt-get install nginx-light)'

/** A request as `METHOD host path`, with headers and the size of a body. */
interface Ask {
  readonly line: string
  readonly headers?: Readonly<Record<string, string>>
  readonly bodyBytes?: number
}

const CONFIG = `
http {
  access_log off;
  limit_req_zone $binary_remote_addr zone=slow:1m rate=1r/m;
  limit_req_zone $http_x_user zone=user:1m rate=1r/m;
  upstream pool { least_conn; server U1 weight=2 max_fails=3; server U2 down; }
  upstream spare { server 127.0.0.1:1; server U2 backup; }
  proxy_set_header Host $http_host;
  server {
    listen 127.0.0.1:PORT default_server;
    server_name _;
    location = /exact { proxy_pass http://U1/only; }
    location /exact { proxy_pass http://U2; }
    location / { proxy_pass http://U1; }
    location /text { proxy_pass http://U2; }
    location /text/longer { proxy_pass http://U1/l; }
    location /slash/ { proxy_pass http://U2/to/; }
    location /bare/ { proxy_pass http://U2/to; }
    location /top/ { proxy_pass http://U2/; }
    location /keep/ { proxy_pass http://U2; }
    location ^~ /strong/ { proxy_pass http://U2; }
    location /strong/weak/ { proxy_pass http://U1/weak/; }
    location ~ \\.php$ { proxy_pass http://U2; proxy_set_header X-Engine php; proxy_set_header Host $http_host; }
    location ~* \\.PHP { proxy_pass http://U1; proxy_set_header X-Engine case; proxy_set_header Host $http_host; }
    location ~ ^/v(\\d+)/ { proxy_pass http://U2; proxy_set_header X-Engine version; proxy_set_header Host $http_host; }
    location ~ /\\.(?!well-known) { deny all; }
    location /pool/ { proxy_pass http://pool/p/; }
    location /spare/ { proxy_pass http://spare; }
    location /denied { deny all; proxy_pass http://U1; }
    location /local { allow 127.0.0.0/8; deny all; proxy_pass http://U1; }
    location /other { deny 127.0.0.1; allow all; proxy_pass http://U1; }
    location /early { deny all; return 204; }
    location /small { client_max_body_size 1k; proxy_pass http://U1; }
    location /large { client_max_body_size 3m; proxy_pass http://U1; }
    location /unlimited { client_max_body_size 0; proxy_pass http://U1; }
    location /slow { limit_req zone=slow burst=2 nodelay; proxy_pass http://U1; }
    location /user { limit_req zone=user; proxy_pass http://U1; }
    location /login { auth_basic "Staff only"; auth_basic_user_file DIR/htpasswd; proxy_pass http://U1; }
    location /fields {
      proxy_set_header Host fixed.example.com;
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Gone "";
      proxy_set_header X-Lang $http_accept_language;
      proxy_hide_header x-secret;
      add_header X-Frame-Options DENY;
      add_header X-Two one;
      add_header X-Two two;
      proxy_pass http://U1;
    }
    location /default-host { proxy_set_header X-A a; proxy_pass http://U1; }
    location /cut/ { rewrite ^/cut/(.*)$ /$1 break; proxy_pass http://U2; }
    location /gone { return 410; }
    location /said { default_type text/plain; return 200 "hello; world"; }
    location /moved { return 301 /new/place; }
    location /away { return 302 https://www.example.com$request_uri; }
    location /secure { return 301 https://$host$request_uri; }
    location /elsewhere { return 307 http://other.example.com:8080/x; }
    location /hidden { internal; proxy_pass http://U1; }
    location /try { try_files $uri @app; }
    location @app { proxy_pass http://U2; }
    location /post { if ($request_method != POST) { return 405; } proxy_pass http://U1; }
    location /agent { if ($http_user_agent ~* bot) { return 403; } proxy_pass http://U1; }
  }
  server {
    listen 127.0.0.1:PORT;
    server_name a.example.com www.a.example.com;
    set $target U2;
    location / { proxy_pass http://$target; }
    location = / { return 302 /start; }
  }
  server {
    listen 127.0.0.1:PORT;
    server_name *.example.com;
    if ($host = old.example.com) { return 301 https://new.example.com$request_uri; }
    location /only/ { proxy_pass http://U1/wild/; }
  }
  server {
    listen 127.0.0.1:PORT;
    server_name .example.org ~^re\\d+\\.test$;
    allow 10.0.0.0/8;
    deny all;
    location / { proxy_pass http://U1; }
    location /open { allow all; proxy_pass http://U2; }
  }
}
`

const PATHS = [
  '/',
  '/x?q=1&r=a%20b',
  '/exact',
  '/exact/',
  '/exactly',
  '/text',
  '/text/',
  '/texts',
  '/text/longer',
  '/text/longest',
  '/slash',
  '/slash?q=1',
  '/slash/',
  '/slash/a/b?c=d',
  '/bare/',
  '/bare/x',
  '/top/',
  '/top/x/y',
  '/top',
  '/keep/x',
  '/keep',
  '/strong/a.php',
  '/strong/weak/a.php',
  '/strong/weak/a.txt',
  '/strong/weak',
  '/a.php',
  '/a.php%0a',
  '/a.PHP',
  '/a.phpx',
  '/a.php/b',
  '/v1/x',
  '/v1/x.php',
  '/vx/x',
  '/.git/config',
  '/a/.env',
  '/.well-known/x',
  '/.well-known/.git',
  '/.well',
  '/spare/x',
  '/pool/x',
  '/denied',
  '/denied/x',
  '/deniedx',
  '/local',
  '/other',
  '/early',
  '/login',
  '/cut/a/b',
  '/cut/',
  '/gone',
  '/gonex',
  '/said',
  '/moved',
  '/away?a=b',
  '/secure/x?y=z',
  '/elsewhere',
  '/hidden',
  '/hidden/x',
  '/try/x',
  '/post',
  '/agent',
  '/default-host',
  '/fields',
  '/%61.php',
  '/a//b',
  '/slash//a',
  '/slash/%61%20b',
  '/text/../slash/x',
  '/keep/%7e%41',
  '/x/%5bb%5d',
]

const ASKS: readonly Ask[] = [
  ...PATHS.map((path) => ({ line: `GET any.test ${path}` })),
  { line: 'POST any.test /post' },
  { line: 'GET any.test /agent', headers: { 'user-agent': 'GoodBot' } },
  {
    line: 'GET any.test /fields',
    headers: { 'x-gone': 'a', 'x-real-ip': '1.2.3.4', 'accept-language': 'tr' },
  },
  { line: 'POST any.test /small', bodyBytes: 1024 },
  { line: 'POST any.test /small', bodyBytes: 1025 },
  { line: 'POST any.test /x', bodyBytes: 1024 ** 2 },
  { line: 'POST any.test /x', bodyBytes: 1024 ** 2 + 1 },
  { line: 'POST any.test /large', bodyBytes: 2 * 1024 ** 2 },
  { line: 'POST any.test /large', bodyBytes: 3 * 1024 ** 2 + 1 },
  { line: 'POST any.test /unlimited', bodyBytes: 5 * 1024 ** 2 },
  ...[1, 2, 3, 4].map(() => ({ line: 'GET any.test /slow' })),
  ...['u', 'u', 'v'].map((user) => ({ line: 'GET any.test /user', headers: { 'x-user': user } })),
  ...['/login', '/denied'].flatMap((path) =>
    ['ann:secret', 'ann:wrong', 'bob:secret'].map((user) => ({
      line: `GET any.test ${path}`,
      headers: { authorization: `Basic ${Buffer.from(user).toString('base64')}` },
    })),
  ),
  ...[
    'a.example.com',
    'www.a.example.com',
    'A.EXAMPLE.com',
    'b.example.com',
    'x.y.example.com',
    'old.example.com',
    'example.com',
    'example.org',
    'x.example.org',
    're7.test',
    're.test',
  ].flatMap((host) =>
    ['/', '/only/x', '/only', '/open', '/other?z'].map((path) => ({ line: `GET ${host} ${path}` })),
  ),
]
/** Statuses that mean the same: nginx answers 503 for limits, and 404 from files. */
const SAME: Readonly<Record<number, number>> = { 429: 503 }

test('an imported document answers as the nginx that it comes from', { skip }, async (t) => {
  const { nginxPort, port } = await startBoth(t, CONFIG)
  const differences: string[] = []
  for (const ask of ASKS) {
    const expected = await answerOf(nginxPort, ask)
    const actual = await answerOf(port, ask)
    if (JSON.stringify(expected) !== JSON.stringify(actual))
      differences.push(
        `${ask.line} ${JSON.stringify(ask.headers ?? ask.bodyBytes ?? '')}\n  nginx  ${JSON.stringify(expected)}\n  sluice ${JSON.stringify(actual)}`,
      )
  }
  assert.equal(differences.join('\n'), '')
})

/** Servers with selectors and protections that are easy to get around if they are mapped wrongly. */
const REFUSING = `
http {
  access_log off;
  server {
    listen 127.0.0.1:PORT default_server;
    deny 10.0.0.0/8;
    if ($http_x_block = yes) { return 403; }
    location / { proxy_pass http://U1; }
    location /admin { deny all; proxy_pass http://U1; }
    location = /one { deny all; proxy_pass http://U1; }
    location /slash/ { deny all; proxy_pass http://U1; }
    location ~ ^/look/(?!public) { deny all; }
    location ~ ^/twice/(a+)/\\1$ { deny all; }
    location ~* ^/ahead/.*(?=\\.key) { return 403; }
    location ~ /\\.ht { deny all; }
    location ~* \\.(bak|sql)$ { deny all; }
    location ~ ^/named/(?<id>\\d+)$ { deny all; }
    location ~ ^/outer/ { proxy_pass http://U1; location ~ secret { deny all; } }
    location ^~ /strong/ { proxy_pass http://U1; location ~ \\.ht { deny all; } location ~ secret { deny all; } }
    location /a/ { proxy_pass http://U1; location ~ x$ { proxy_pass http://U1; } location /a/b/c/ { proxy_pass http://U1; } }
    location /a/b/ { deny all; proxy_pass http://U1; }
    location /inherit/ { deny all; proxy_pass http://U1; location /inherit/open/ { allow all; proxy_pass http://U1; } location /inherit/in/ { proxy_pass http://U1; } }
    location /replace/ { allow 10.0.0.0/8; deny all; auth_basic x; auth_basic_user_file DIR/htpasswd; proxy_pass http://U1;
      location /replace/in/ { allow all; proxy_pass http://U1; }
      location /replace/off/ { auth_basic off; proxy_pass http://U1; } }
    location /any { satisfy any; allow 10.0.0.0/8; auth_basic x; auth_basic_user_file DIR/htpasswd; proxy_pass http://U1; }
    location /all { satisfy all; allow 127.0.0.1; deny all; auth_basic x; auth_basic_user_file DIR/htpasswd; proxy_pass http://U1; }
    location /internal { internal; proxy_pass http://U1; }
    location /files { try_files $uri @login; }
    location @login { auth_basic x; auth_basic_user_file DIR/htpasswd; proxy_pass http://U1; }
    location /except { limit_except GET { deny all; } proxy_pass http://U1; }
    location /closing { return 444; }
    location /token { if ($http_x_token != s3cret) { return 403; } proxy_pass http://U1; }
    location /pattern { if ($http_x_token !~ ^s3) { return 403; } proxy_pass http://U1; }
    location /cookie { if ($cookie_token != s3cret) { return 403; } proxy_pass http://U1; }
    location /query { if ($arg_token != s3cret) { return 403; } proxy_pass http://U1; }
    location /empty { if ($http_x_token = "") { return 403; } proxy_pass http://U1; }
    location /certificate { if ($ssl_client_verify != SUCCESS) { return 403; } proxy_pass http://U1; }
    location /moved/ { rewrite ^/moved/(.*)$ /admin/$1 last; proxy_pass http://U1; }
  }
  server { listen 127.0.0.1:PORT; server_name moved.test; rewrite ^/old/(.*) /admin/$1 last; location / { proxy_pass http://U1; } location /admin { deny all; } }
  server { listen 127.0.0.1:PORT; server_name ~^pre(?!view)\\w*\\.test$; deny all; location / { proxy_pass http://U1; } }
  server { listen 127.0.0.1:PORT; server_name ~^first; deny all; location / { proxy_pass http://U1; } }
  server { listen 127.0.0.1:PORT; server_name ~t\\.test$; location / { proxy_pass http://U1; } location /x { proxy_pass http://U1; } location /y { proxy_pass http://U1; } }
  server { listen 127.0.0.1:PORT; server_name www.*; location / { proxy_pass http://U1; } location /x { proxy_pass http://U1; } }
  server { listen 127.0.0.1:PORT; server_name www.inner.*; deny all; location / { proxy_pass http://U1; } }
  server { listen 127.0.0.1:PORT; server_name *.wild.test; location / { proxy_pass http://U1; } }
  server { listen 127.0.0.1:PORT; server_name *.in.wild.test; deny all; location / { proxy_pass http://U1; } }
}
`
const REFUSED_PATHS = [
  '/admin',
  '/adminx',
  '/admin/x',
  '/%61dmin',
  '/%41dmin',
  '//admin',
  '/x/../admin',
  '/./admin',
  '/x/%2e%2e/admin',
  '/x%2f..%2fadmin',
  '/admin/../x',
  '/admin%2f',
  '/admin;x',
  '/%2561dmin',
  '/admin?x',
  '/x//..//admin',
  '/one',
  '/on%65',
  '//one',
  '/one/',
  '/one?x',
  '/slash/',
  '/slash',
  '/slash//',
  '/slash%2fx',
  '/look/x',
  '/look/public',
  '/look',
  '/twice/a/a',
  '/twice/a/b',
  '/ahead/a.KEY',
  '/ahead/a',
  '/.htaccess',
  '/x/.htpasswd',
  '/x/%2ehtpasswd',
  '/a.BAK',
  '/x.sql',
  '/x.sql/y',
  '/named/12',
  '/named/x',
  '/outer/secret',
  '/outer/x',
  '/secret',
  '/strong/.ht',
  '/strong/secret',
  '/strong/x',
  '/a/x',
  '/a/b/x',
  '/a/b/c/x',
  '/a/b',
  '/inherit/x',
  '/inherit/open/x',
  '/inherit/in/x',
  '/replace/x',
  '/replace/in/x',
  '/replace/off/x',
  '/any',
  '/all',
  '/internal',
  '/internal/x',
  '/files',
  '/except',
  '/closing',
  '/token',
  '/pattern',
  '/cookie',
  '/query',
  '/query?token=x',
  '/empty',
  '/certificate',
  '/moved/x',
  '/x',
]
const REFUSED_ASKS: readonly Ask[] = [
  ...REFUSED_PATHS.map((path) => ({ line: `GET any.test ${path}` })),
  ...['/token', '/pattern', '/empty', '/x'].map((path) => ({
    line: `GET any.test ${path}`,
    headers: { 'x-token': 's3cret', 'x-block': path === '/x' ? 'yes' : 'no' },
  })),
  ...['/replace/in/x', '/all', '/any', '/files'].map((path) => ({
    line: `GET any.test ${path}`,
    headers: { authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}` },
  })),
  { line: 'POST any.test /except' },
  ...[
    'moved.test /old/x',
    'moved.test /x',
    'prefix.test /',
    'preview.test /',
    'first.test /',
    'first.test /x',
    'at.test /x',
    'www.a /x',
    'www.inner.a /',
    'www.inner.a /x',
    'a.wild.test /',
    'a.in.wild.test /',
  ].map((rest) => ({ line: `GET ${rest}` })),
]
/** Requests that nginx forwards and the document refuses, because they are close to what it cannot express. */
const STRICTER = [
  '/look/public',
  '/twice/a/b',
  '/ahead/a',
  '/except',
  '/moved/x',
  '/certificate',
  'moved.test /x',
  'preview.test /',
  // Locations in locations, and `satisfy any`.
  '/outer/x',
  '/strong/x',
  '/a/x',
  '/inherit/open/x',
  '/replace/in/x',
  '/replace/off/x',
  '/any',
]

test('requests that nginx refuses never reach an upstream', { skip }, async (t) => {
  const { nginxPort, port } = await startBoth(t, REFUSING)
  const leaks: string[] = []
  const stricter: string[] = []
  for (const ask of REFUSED_ASKS) {
    const [expected, actual] = await Promise.all([answerOf(nginxPort, ask), answerOf(port, ask)])
    const line = `${ask.line} ${JSON.stringify(ask.headers ?? '')} ${expected.status} ${actual.status}`
    if (expected.seen === null && actual.seen !== null) leaks.push(line)
    if (expected.seen !== null && actual.seen === null) stricter.push(line)
  }
  assert.deepEqual(leaks, [])
  const isExpected = (line: string): boolean => STRICTER.some((one) => line.includes(`${one} `))
  assert.deepEqual(
    stricter.filter((line) => !isExpected(line)),
    [],
  )
})

/** Starts nginx with a configuration, and a gateway with the document imported from it. */
async function startBoth(
  t: TestContext,
  config: string,
): Promise<{ readonly nginxPort: number; readonly port: number }> {
  const dir = scratch(t)
  const text = await configFor(t, dir, config)
  const nginxPort = await startNginx(t, dir, text)
  const out = await gwInProcess(['import', 'nginx', 'site.conf', '--out', 'gateway.yaml'], { cwd: dir })
  assert.equal(out.code, 2, out.stderr)
  const added = await gwInProcess(['consumer', 'add', 'ann', '--password'], { cwd: dir, stdin: 'secret' })
  assert.equal(added.code, 0, added.stderr)
  const document = readFileSync(join(dir, 'gateway.yaml'), 'utf8')
    .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:0')
    .replaceAll('consumers.jsonl', join(dir, 'consumers.jsonl'))
    .replace('version: 1', 'version: 1\nadmin: { address: "127.0.0.1:0" }\nworkers: 1\nlog: { sink: none }')
  const gateway = await startGateway(t, document)
  return { nginxPort, port: Number(new URL(gateway.url).port) }
}

async function configFor(t: TestContext, dir: string, config: string): Promise<string> {
  const echo = (name: string) =>
    origin(t, (req, res) => {
      const {
        host,
        'x-real-ip': ip,
        'x-gone': gone,
        'x-lang': lang,
        'x-engine': engine,
        authorization,
        'x-a': a,
      } = req.headers
      res.setHeader('x-secret', 's')
      req.resume().on('end', () =>
        res.end(
          JSON.stringify({
            name,
            method: req.method,
            url: req.url,
            host,
            ip,
            gone,
            lang,
            engine,
            authorization,
            a,
          }),
        ),
      )
    })
  const [one, two] = await Promise.all([echo('one'), echo('two')])
  const port = String(await closedPort())
  const text = config
    .replaceAll('PORT', port)
    .replaceAll('U1', new URL(one).host)
    .replaceAll('U2', new URL(two).host)
    .replaceAll('DIR', dir)
  writeFileSync(join(dir, 'htpasswd'), 'ann:{PLAIN}secret\n')
  writeFileSync(join(dir, 'site.conf'), text)
  return text
}

async function startNginx(t: TestContext, dir: string, text: string): Promise<number> {
  const port = Number(/127\.0\.0\.1:(\d+) default_server/.exec(text)?.[1])
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${dir}/${kind};`)
    .join(' ')
  const main = `daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/error.log crit;\nevents { worker_connections 512; }\n`
  writeFileSync(
    join(dir, 'nginx.conf'),
    main + text.replace('access_log off;', `access_log off; ${temporary}`),
  )
  const nginx = spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  nginx.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  t.after(() => nginx.kill('SIGKILL'))
  await until(
    async () => (await accepts(port)) || nginx.exitCode !== null,
    () => errors,
  )
  assert.equal(nginx.exitCode, null, errors)
  return port
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

/** Parts of an answer that a client sees, and the request as the upstream saw it. */
interface Answer extends Readonly<Record<string, unknown>> {
  readonly status: number
  readonly seen: unknown
}

/** Returns what a client and the upstream see of a request. */
function answerOf(port: number, { line, headers = {}, bodyBytes = 0 }: Ask): Promise<Answer> {
  const [method, host, path] = line.split(' ')
  return new Promise((resolve, reject) => {
    const request = http.request({
      port,
      host: '127.0.0.1',
      method,
      path,
      agent: false,
      headers: { host: host!, ...headers, ...(bodyBytes > 0 && { 'content-length': bodyBytes }) },
    })
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(comparable(response, text, port)))
      response.on('error', reject)
    })
    // A server that refuses a body may close the connection before it has been sent, and `return 444` sends nothing.
    request.on('error', (error) => {
      if (path === '/closing') resolve({ status: 444, seen: null })
      else if (bodyBytes === 0) reject(error)
    })
    request.end(Buffer.alloc(bodyBytes))
  })
}

function comparable({ statusCode = 0, headers }: http.IncomingMessage, text: string, port: number): Answer {
  const status = SAME[statusCode] ?? statusCode
  const location = headers.location?.replace(/^http:\/\/[^/]*/, '').replace(`:${port}`, '')
  const seen = status === 200 && text.startsWith('{') ? JSON.parse(text) : status === 200 ? text : null
  return {
    status,
    seen,
    location,
    frame: headers['x-frame-options'],
    two: headers['x-two'],
    secret: headers['x-secret'],
  }
}
