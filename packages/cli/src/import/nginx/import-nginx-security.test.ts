import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { gwInProcess } from '../../testing/in-process.js'
import { scratch } from '../../testing.js'

interface Document {
  readonly listeners: readonly Readonly<Record<string, unknown>>[]
  readonly policies?: readonly { readonly id: string; readonly with: unknown }[]
  readonly routes: readonly { readonly match: object; readonly policies?: readonly string[] }[]
}

async function importText(t: TestContext, text: string) {
  const dir = scratch(t)
  writeFileSync(join(dir, 'nginx.conf'), text)
  const result = await gwInProcess(['import', 'nginx', 'nginx.conf'], { cwd: dir })
  return { ...result, document: parse(result.stdout) as Document }
}

const PASS = 'proxy_pass http://10.0.0.5;'
const TLS = 'listen 443 ssl; ssl_certificate c.pem; ssl_certificate_key k.pem;'

test('client certificates are checked before all other directives', async (t) => {
  const { document } = await importText(
    t,
    `server { ${TLS} ssl_verify_client on; ssl_trusted_certificate ca.pem;
      if ($http_x) { return 204; } location / { ${PASS} } location /token { return 200 t; }
      location /in { internal; } location /slash/ { ${PASS} } }`,
  )
  const [{ tls }] = document.listeners as [{ tls: Readonly<Record<string, unknown>> }]
  assert.deepEqual([tls['clientCaFile'], tls['clientCertificate']], ['ca.pem', 'required'])
  assert.equal(document.routes.length, 6)
  for (const { policies } of document.routes) assert.deepEqual(policies, ['client-certificate'])
})

test('a server that verifies certificates without an authority is closed', async (t) => {
  for (const mode of ['on', 'optional']) {
    const { code, document } = await importText(
      t,
      `server { ${TLS} ssl_verify_client ${mode}; location / { ${PASS} } location /a { return 200; } }`,
    )
    assert.equal(code, 2)
    for (const { policies } of document.routes) assert.deepEqual(policies, ['not-imported'], mode)
  }
})

test('rules for the address of clients behind a proxy need a list of proxies that the gateway can use', async (t) => {
  const from = 'set_real_ip_from 10.0.0.0/8;'
  const rules = 'allow 10.0.0.0/8; deny all;'
  const forwarded = 'real_ip_header X-Forwarded-For;'
  const closed: readonly string[] = [
    `server { listen 80; ${from} location / { ${rules} ${PASS} } }`,
    `server { listen 80; ${from} real_ip_header CF-Connecting-IP; location / { ${rules} ${PASS} } }`,
    `server { listen 80; ${forwarded} location / { ${from} ${rules} ${PASS} } location /b { ${PASS} } }`,
    `server { listen 80; ${from} ${forwarded} location / { ${rules} ${PASS} } } server { listen 80; server_name b; location / { ${PASS} } }`,
    `server { listen 80; set_real_ip_from proxy.test; ${forwarded} location / { ${rules} ${PASS} } }`,
    `server { listen 80 proxy_protocol; ${from} ${forwarded} location / { ${rules} ${PASS} } }`,
    `server { listen 80; ${from} location / { if ($remote_addr = 10.0.0.1) { return 403; } ${PASS} } }`,
    `limit_req_zone $binary_remote_addr zone=a:1m rate=1r/s; server { listen 80; ${from} location / { limit_req zone=a; ${PASS} } }`,
  ]
  for (const text of closed) {
    const { code, document, stderr } = await importText(t, text)
    assert.equal(code, 2, text)
    assert.match(stderr, /set_real_ip_from: .*the route returns 503/, text)
    assert.ok(
      document.routes.some(({ policies }) => policies?.includes('not-imported')),
      text,
    )
  }
  const open = await importText(
    t,
    `server { listen 80; ${from} ${forwarded} location / { ${rules} ${PASS} } }`,
  )
  assert.equal(open.code, 0, open.stderr)
  assert.deepEqual(open.document.listeners[0]?.['trustedProxies'], ['10.0.0.0/8'])
})

test('servers of another address are left out', async (t) => {
  const { code, document, stderr } = await importText(
    t,
    `server { listen 127.0.0.1:80; server_name a; location / { ${PASS} } }
     server { listen 127.0.0.2:80; server_name admin; location / { return 200 admin; } }`,
  )
  assert.equal(code, 2)
  assert.match(stderr, /nginx\.conf:2: listen: the server listens on another port or address/)
  assert.deepEqual(
    document.listeners.map(({ address }) => address),
    ['127.0.0.1:80'],
  )
  assert.equal(document.routes.length, 1)
})

test('one ssl parameter is enough for all servers of an address', async (t) => {
  const { document } = await importText(
    t,
    `server { ${TLS} server_name a; location / { ${PASS} } }
     server { listen 443; server_name b; location / { deny all; ${PASS} } }`,
  )
  assert.equal(document.listeners.length, 1)
  assert.doesNotMatch(JSON.stringify(document.routes), /req\.scheme/)
})

test('clients cannot set a field that nginx overwrites with a value that is not mapped', async (t) => {
  const { code, document, stderr } = await importText(
    t,
    `server { listen 80; location / { proxy_set_header X-SSL-Client-DN $ssl_client_s_dn; proxy_set_header X-Scheme $scheme;
      proxy_set_header X-Forwarded-Port $server_port; ${PASS} } }`,
  )
  assert.equal(code, 2)
  assert.deepEqual(
    document.policies?.map((one) => one.with),
    [{ request: { remove: ['x-ssl-client-dn', 'x-scheme', 'x-forwarded-port'] } }],
  )
  assert.match(
    stderr,
    /Security: check these before you deploy:\n.*proxy_set_header: .*clients cannot set it/,
  )
})

test('conditions on an argument close the location, because nginx ignores the case of its name', async (t) => {
  const { code, document } = await importText(
    t,
    `server { listen 80; location / { if ($arg_debug) { return 403; } ${PASS} } }`,
  )
  assert.deepEqual([code, document.routes.length], [2, 1])
  assert.deepEqual(document.routes[0]?.policies, ['not-imported'])
})

test('patterns of include are matched in linear time', async (t) => {
  const dir = scratch(t)
  const include = async (pattern: string): Promise<string[]> => {
    writeFileSync(join(dir, 'nginx.conf'), `include "sites/${pattern}";`)
    const { stdout } = await gwInProcess(['import', 'nginx', 'nginx.conf'], { cwd: dir })
    return [...stdout.matchAll(/sites\/(\S+?):1/g)].map(([, name]) => name!)
  }
  mkdirSync(join(dir, 'sites'))
  for (const name of ['a.conf', 'b.conf', 'ab.conf', '.c.conf', `${'a'.repeat(200)}`])
    writeFileSync(join(dir, 'sites', name), `server { server_name ${name.slice(0, 4)}; return 204; }`)
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['*.conf', ['a.conf', 'ab.conf', 'b.conf']],
    ['?.conf', ['a.conf', 'b.conf']],
    ['[!b].c*f', ['a.conf']],
    ['[b-z].conf', ['b.conf']],
    ['*b*.conf*', ['ab.conf', 'b.conf']],
    ['.c*', ['.c.conf']],
    [`${'a*'.repeat(60)}b`, []],
    ['[z-a]*', []],
  ]
  for (const [pattern, names] of cases) assert.deepEqual(await include(pattern), names, pattern)
})

test('very long words are refused', async (t) => {
  const long = 'x'.repeat(12 * 1024 ** 2)
  for (const text of [long, `"${long}"`, `'\${${long}'`, '\\x'.repeat(1024 ** 2), `$\{${long}`]) {
    const { code, stderr } = await importText(t, text)
    assert.equal(code, 3, stderr)
    assert.match(stderr, /4096 characters/)
  }
  const comments = await importText(t, `${'#\n'.repeat(7 * 1024 ** 2)} server { listen 80; return 204; }`)
  assert.equal(comments.code, 0)
})

test('a directive that no route uses is reported, although others of its name are mapped', async (t) => {
  const { code, stderr } = await importText(
    t,
    `upstream unused { server 10.0.0.6; }
     server { listen 80; location / { deny all; allow all; ${PASS} }
     location /a { deny all; return 204; }
     location @named { deny all; ${PASS} } }
     server { listen 80; server_name b; return 204;
     location /b { deny all; } }`,
  )
  assert.equal(code, 2)
  for (const finding of ['1: upstream unused', '3: deny', '4: deny', '4: proxy_pass', '6: deny'])
    assert.match(stderr, new RegExp(`nginx\\.conf:${finding}: `))
  assert.doesNotMatch(stderr, /nginx\.conf:2:/)
})

test('of two servers with the same name, the first one has it', async (t) => {
  const { code, document, stderr } = await importText(
    t,
    `server { listen 80; server_name a *.b; location / { deny all; ${PASS} } }
     server { listen 80; ${TLS} server_name a c *.b; location / { ${PASS} } location /x { ${PASS} } }`,
  )
  assert.equal(code, 2)
  assert.match(stderr, /nginx\.conf:2: server_name: an earlier server has the same name/)
  assert.ok(document.routes.some(({ match }) => JSON.stringify(match).includes('https')))
  const open = document.routes.filter(({ policies }) => policies === undefined).map(({ match }) => match)
  for (const match of open) assert.match(JSON.stringify(match), /"hosts":\["c"\]|req\.scheme == \\"https\\"/)
})

test('protections of modules and files that are not known close their routes', async (t) => {
  const location = (text: string): string => `server { listen 80; location / { ${text} ${PASS} } }`
  for (const text of [
    location('auth_oidc on;'),
    location('auth_gss on;'),
    location('app_protect_enable on;'),
    location('SecRuleEngine On;'),
    location('if ($http_x) { proxy_pass http://10.0.0.6; }'),
    location('include auth_params;'),
    `include /no-such-folder/*.conf; ${location('')}`,
    `server { listen 80; server_rewrite_by_lua_block { x; } location / { ${PASS} } }`,
  ]) {
    const { code, document } = await importText(t, text)
    assert.equal(code, 2, text)
    for (const { policies } of document.routes) assert.deepEqual(policies, ['not-imported'], text)
  }
  const off = await importText(t, location('auth_oidc off; app_protect_enable OFF; auth_request_set $a $b;'))
  assert.equal(off.document.routes[0]?.policies, undefined)
})
