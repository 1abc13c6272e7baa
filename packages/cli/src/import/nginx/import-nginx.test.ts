import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { gwInProcess } from '../../testing/in-process.js'
import { scratch } from '../../testing.js'

interface Imported {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly document: Readonly<Record<string, unknown>> & {
    readonly routes: readonly Readonly<Record<string, unknown>>[]
  }
}

async function importText(t: TestContext, text: string, ...more: readonly string[]): Promise<Imported> {
  const dir = scratch(t)
  writeFileSync(join(dir, 'nginx.conf'), text)
  const result = await gwInProcess(['import', 'nginx', 'nginx.conf', ...more], { cwd: dir })
  return { ...result, document: parse(result.stdout) as Imported['document'] }
}

/** Returns a server with one location. */
function location(body: string, before = ''): string {
  return `${before} server { listen 80; location / { ${body} proxy_pass http://10.0.0.5:9000; } }`
}

test('everything that is mapped gives exit code 0', async (t) => {
  const { code, stderr, document } = await importText(t, location('proxy_read_timeout 1m30s;'))
  assert.deepEqual([code, stderr], [0, '5 mapped, 0 not mapped, 0 not needed\n'])
  assert.deepEqual(document, {
    version: 1,
    listeners: [{ address: '*:80', engine: 'node', paths: 'as-received', limits: { bodyBytes: '1mb' } }],
    upstreams: {
      '10.0.0.5-9000': {
        targets: ['http://10.0.0.5:9000'],
        timeouts: { connect: '60s', headers: '60s', idle: '60s', total: '0s' },
        'x-lint': { disable: ['no-limit'] },
        retry: { attempts: 0 },
      },
    },
    routes: [
      {
        id: 'default',
        match: {},
        rewrite: { host: 'upstream' },
        upstream: '10.0.0.5-9000',
        timeouts: { headers: '90s', idle: '90s' },
      },
    ],
  })
})

test('protections that are not mapped close their route', async (t) => {
  const protections = [
    'auth_request /auth;',
    'auth_jwt "api";',
    'limit_req zone=missing;',
    'limit_conn missing 3;',
    'allow example.com; deny all;',
    'secure_link $arg_md5;',
    'modsecurity on;',
    'access_by_lua_block { if ngx.var.a then ngx.exit(403) end }',
    'limit_except GET { deny all; }',
    'if ($bad) { return 403; }',
    'if ($request_method = POST) { set $a 1; return 403; }',
    'include missing/access.conf;',
    'valid_referers none;',
    'satisfy any;',
    'allow 10.0.0.1; deny 10.0.0.0/8; allow 11.0.0.0/8; deny all;',
  ]
  for (const protection of protections) {
    for (const text of [location(protection), location('', `http { ${protection}`).concat(' }')]) {
      const { code, document, stdout, stderr } = await importText(t, text)
      assert.equal(code, 2, `${text}\n${stderr}`)
      assert.deepEqual(document.routes[0]?.['policies'], ['not-imported'], text)
      assert.match(stdout, /# Closed: not imported: /, text)
      assert.match(
        stderr,
        /Security: check these before you deploy:\n {2}nginx\.conf:1: .*the route returns 503/,
        text,
      )
    }
    const open = await importText(t, location(protection), '--allow-unprotected')
    assert.equal(open.document.routes[0]?.['policies'], undefined, protection)
    assert.match(open.stderr, /the route is NOT protected/, protection)
  }
})

test('a location with other locations is closed', async (t) => {
  const nested = `server { listen 80; location /in/ { proxy_pass http://10.0.0.5; location ~ secret { deny all; } }
    location ~ php { proxy_pass http://10.0.0.6; } }`
  const { code, document, stderr } = await importText(t, nested)
  assert.equal(code, 2, stderr)
  assert.match(
    stderr,
    /nginx\.conf:1: location ~ secret: locations in locations are not supported; the route/,
  )
  const first = document.routes.find(
    ({ match, upstream }) => upstream && JSON.stringify(match).includes('/in'),
  )
  const regex = document.routes.find(({ match }) => JSON.stringify(match).includes('php'))
  assert.deepEqual(first?.['policies'], ['not-imported'])
  assert.ok(Number(first?.['priority']) > Number(regex?.['priority']), 'it precedes regular expressions')
})

test('addresses of clients are determined as with real_ip_recursive, and a note says so', async (t) => {
  const proxies = 'set_real_ip_from 10.0.0.0/8; real_ip_header X-Forwarded-For;'
  const off = await importText(t, location('', `http { ${proxies}`).concat(' }'))
  assert.match(off.stderr, /set_real_ip_from: addresses of proxies in X-Forwarded-For are skipped/)
  const on = await importText(t, location('', `http { ${proxies} real_ip_recursive on;`).concat(' }'))
  assert.doesNotMatch(on.stderr, /are skipped/)
})

test('an imported document is formatted', async (t) => {
  const { stdout } = await importText(t, location('gzip on; deny 10.0.0.1; add_header X-A b;'))
  const check = await gwInProcess(['fmt', '--check', '-'], { stdin: stdout })
  assert.equal(check.code, 0, check.stdout)
})

test('directives that are not mapped are reported with a way to do it by hand', async (t) => {
  const { stderr, stdout } = await importText(
    t,
    location(
      'sub_filter a b; proxy_set_header X-A $unknown; proxy_cookie_path / /x; fancy_module on;',
      'map $a $b { a b; } stream { server { listen 1; } }',
    ),
    '--report',
    'json',
  )
  const report = JSON.parse(stderr) as {
    leftOut: number
    findings: { what: string; place: string; reason: string; remedy?: string }[]
  }
  assert.equal(report.leftOut, 6)
  assert.deepEqual(
    report.findings.map(({ what, remedy }) => [what, remedy !== undefined]),
    [
      ['proxy_set_header', true],
      ['map $a $b', true],
      ['stream', false],
      ['sub_filter', true],
      ['proxy_cookie_path', true],
      ['fancy_module', false],
    ],
  )
  assert.match(stdout, /upstream: 10\.0\.0\.5-9000/)
})

test('included files are read with patterns, and configurations are parsed as nginx does', async (t) => {
  const dir = scratch(t)
  mkdirSync(join(dir, 'sites'))
  writeFileSync(
    join(dir, 'nginx.conf'),
    'events {}\nhttp { include sites/*.conf; include sites/none*.conf; include mime.types; }',
  )
  writeFileSync(
    join(dir, 'sites/a.conf'),
    'server { server_name a.test;\n location "/a b" { return 200 "it\\"s {;} # ${x}"; } # comment; }\n}',
  )
  writeFileSync(
    join(dir, 'sites/b.conf'),
    "server { server_name b.test; location ~ '^/\\d{2}$' { return 204; } }",
  )
  writeFileSync(join(dir, 'sites/.hidden.conf'), 'server { server_name hidden.test; }')
  const { code, stdout, stderr } = await gwInProcess(['import', 'nginx', 'nginx.conf'], { cwd: dir })
  assert.equal(code, 2, stderr)
  const { routes } = parse(stdout) as Imported['document']
  const paths = routes.map(({ match }) => (match as { path?: string }).path)
  assert.deepEqual(paths, ['~^/a b', undefined, '~^/\\d{2}(?:\\n|%0A)?$', undefined])
  assert.match(stderr, /sites\/a\.conf:2: return: the text depends on the request/)
  assert.doesNotMatch(stderr, /hidden/)
})

test('a document has the servers of one port of each scheme', async (t) => {
  const text = `server { listen 80; server_name a; location / { return 200 a; } }
    server { listen 127.0.0.1:8081; server_name internal; location / { return 200 admin; } }
    server { listen 443 ssl; server_name a; ssl_certificate c; ssl_certificate_key k; location / { return 200 tls; } }`
  const { document, stderr } = await importText(t, text)
  const bodies = document.routes.map(({ respond, match }) => [
    (respond as { body: string }).body,
    (match as { when: string }).when,
  ])
  assert.deepEqual(bodies, [
    ['a', 'req.scheme == "http"'],
    ['tls', 'req.scheme == "https"'],
  ])
  assert.match(stderr, /nginx\.conf:2: listen: the server listens on another port/)
  const other = await importText(t, text, '--port', '8081')
  assert.deepEqual(other.document['listeners'], [
    { address: '127.0.0.1:8081', engine: 'node', paths: 'as-received', limits: { bodyBytes: '1mb' } },
  ])
  assert.equal(other.document.routes.length, 1)
})

test('client certificates are required where nginx requires them', async (t) => {
  const server = (name: string, more: string) =>
    `server { listen 443 ssl; server_name ${name}; ssl_certificate ${name}.pem; ssl_certificate_key ${name}.key; ${more} location / { proxy_pass http://10.0.0.5; } }`
  const verify = 'ssl_client_certificate ca.pem; ssl_verify_client on;'
  const mixed = await importText(t, server('a.test', '') + server('b.test', verify))
  const [listener] = mixed.document['listeners'] as [{ tls: object }]
  assert.deepEqual(listener.tls, {
    certFile: 'a.test.pem',
    keyFile: 'a.test.key',
    clientCaFile: 'ca.pem',
    clientCertificate: 'optional',
    certificates: [{ certFile: 'b.test.pem', keyFile: 'b.test.key', serverNames: ['b.test'] }],
  })
  assert.deepEqual(
    mixed.document.routes.map(({ policies }) => policies),
    [undefined, ['client-certificate']],
  )
  const unclear = await importText(
    t,
    server('a.test', 'ssl_client_certificate ca.pem; ssl_verify_client optional_no_ca;'),
  )
  assert.deepEqual(unclear.document.routes[0]?.['policies'], ['not-imported'])
  const two = await importText(
    t,
    server('a.test', verify) + server('b.test', verify.replace('ca.pem', 'other.pem')),
  )
  assert.deepEqual(
    two.document.routes.map(({ policies }) => policies),
    [['client-certificate'], ['not-imported', 'client-certificate']],
  )
})

test('hostile configurations are refused without their text', async (t) => {
  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['no semicolon', 'root:$6$salt$hash:1:2:3', /nginx\.conf:1: a directive is not terminated by ';'/],
    ['open block', 'http { server {', /the file ends before a '}'/],
    ['closed block', 'http { } }', /unexpected '}'/],
    ['open quote', 'a "secret', /a quoted text is not terminated/],
    ['depth', 'a {'.repeat(100_000), /nested more than 50 levels/],
    ['loop', 'include nginx.conf;', /the file includes itself/],
    ['device', 'include /dev/zero;', /it is not a regular file/],
    ['nothing', '', /no server that can be imported/],
    ['lua', 'content_by_lua_block { { ', /the file ends before a '}'/],
  ]
  for (const [name, text, reason] of refused) {
    const { code, stdout, stderr } = await importText(t, text)
    assert.deepEqual([code, stdout], [3, ''], name)
    assert.match(stderr, reason, name)
    assert.doesNotMatch(stderr, /salt|secret/, name)
  }
})

test('neither reports nor documents contain the text of files that are no configurations', async (t) => {
  const dir = scratch(t)
  writeFileSync(join(dir, 'shadow'), 'root:$6$salt$hash:19000:0:99999:7:::;\nApiKey=secret { }\n')
  writeFileSync(
    join(dir, 'nginx.conf'),
    `${location('include shadow; auth_basic x; auth_basic_user_file shadow;')}`,
  )
  const { code, stdout, stderr } = await gwInProcess(['import', 'nginx', 'nginx.conf'], { cwd: dir })
  assert.equal(code, 2, stderr)
  assert.match(stderr, /shadow:1: \(not a directive\)/)
  assert.doesNotMatch(stdout + stderr, /salt|secret/)
})

test('names with control characters and references stay harmless', async (t) => {
  const text = `server { server_name "\${env:HOME}" "\\r\\nroutes: []"; location "/\\n\u001b[31m" { return 200 '\${file:/etc/passwd}'; } }`
  const { stdout, stderr } = await importText(t, text)
  assert.ok(!stdout.includes('\u001b') && !stderr.includes('\u001b'), stdout + stderr)
  assert.doesNotMatch(stdout + stderr, /root:/)
})

test('a configuration of 10 MB is imported or refused, and a pattern never hangs', async (t) => {
  const many = `server { ${'location / { return 200 "x"; }\n'} ${'# comment\n'.repeat(900_000)} ${'add_header X-A b;\n'.repeat(1000)} }`
  const { code } = await importText(t, many)
  assert.equal(code, 0)
  const routes = await importText(t, `server { ${'location /a { return 200; }\n'.repeat(25_000)} }`)
  assert.match(routes.stderr, /the source has more than 20000 routes; import it in parts/)
  const large = await importText(t, `# ${'x'.repeat(17 * 1024 ** 2)}`)
  assert.match(large.stderr, /it is larger than 16 MB/)
})

test('a document is written once and its consumers file is kept', async (t) => {
  const dir = scratch(t)
  writeFileSync(join(dir, 'nginx.conf'), location('auth_basic x;'))
  writeFileSync(join(dir, 'consumers.jsonl'), '{"id":"ann"}\n')
  const run = (...more: string[]) =>
    gwInProcess(['import', 'nginx', 'nginx.conf', '--out', 'g.yaml', ...more], { cwd: dir })
  assert.equal((await run()).code, 0)
  assert.match((await run()).stderr, /cannot write g\.yaml: it already exists; .*--force/)
  assert.equal((await run('--force')).code, 0)
  assert.equal(readFileSync(join(dir, 'consumers.jsonl'), 'utf8'), '{"id":"ann"}\n')
  assert.equal((await gwInProcess(['validate', 'g.yaml'], { cwd: dir })).code, 0)
})
