import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bundleOf } from '@sluice/control-client'
import { FolderStore } from '../store/folder-store.js'
import { type Body, documentWith, TestController, testFolder, until } from '../testing/test-controller.js'

test('a deploy reaches the members of its group and no other', async (t) => {
  const controller = await TestController.start(t)
  const [one, two, other] = await Promise.all([
    controller.member({ name: 'one' }),
    controller.member({ name: 'two' }),
    controller.member({ name: 'other', group: 'core' }),
  ])
  const { status, body } = await controller.deploy('edge', documentWith('/a'), { options: { note: 'first' } })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.result, 'committed')
  assert.deepEqual(
    body.members.map(({ outcome }) => outcome),
    ['active', 'active'],
  )
  assert.deepEqual([one.digest, two.digest, other.digest], [body.digest, body.digest, null])
  assert.deepEqual(other.journal, [])
  const { body: fleet } = await controller.call('GET', '/v1/members?group=edge')
  for (const member of fleet.members) assert.equal(member.status, 'inSync')
  const group = await controller.call('GET', '/v1/groups/edge')
  assert.equal(group.headers.get('etag'), `"${body.digest}"`)
  assert.equal(group.body.head?.note, 'first')
})

test('a refusal aborts a deploy, and the problem names the member and its reason', async (t) => {
  const controller = await TestController.start(t)
  const good = await controller.member({ name: 'good' })
  const bad = await controller.member({ name: 'bad' })
  bad.refusal = 'it does not want to'
  const { status, body } = await controller.deploy('edge', documentWith('/a'))
  assert.deepEqual([status, body.code], [409, 'GW_CONTROL_ABORTED'])
  assert.match(body.detail, /bad refused: it does not want to/)
  await until(() => good.journal.some((order) => order.startsWith('discard')))
  assert.equal(good.digest, null)
})

test('history, bundles, diff and rollback', async (t) => {
  const controller = await TestController.start(t)
  const member = await controller.member()
  const [first, second] = [
    await controller.deploy('edge', documentWith('/a')),
    await controller.deploy('edge', documentWith('/b')),
  ]
  const again = await controller.deploy('edge', documentWith('/b'))
  assert.deepEqual([again.body.result, again.body.deploy], ['unchanged', second.body.deploy])
  const { body: diff } = await controller.call('GET', '/v1/groups/edge/diff')
  assert.deepEqual([diff.from, diff.to], [first.body.deploy, second.body.deploy])
  assert.deepEqual(
    diff.changes.map(({ kind, what, name }) => [kind, what, name]),
    [['change', 'route', 'one']],
  )
  const bundle = `/v1/groups/edge/deploys/${first.body.deploy}`
  assert.equal((await controller.call('GET', `${bundle}/files/gateway.yaml`)).text, documentWith('/a'))
  assert.equal((await controller.call('GET', `${bundle}/manifest`)).body.files[0]?.path, 'gateway.yaml')
  for (const path of ['nothing.yaml', '..%2f..%2fjournal.ndjson', '%2e%2e/store.json'])
    assert.equal((await controller.call('GET', `${bundle}/files/${path}`)).status, 404, path)
  const back = await controller.call('POST', '/v1/groups/edge/rollback', { body: { note: 'oops' } })
  assert.equal(back.body.digest, first.body.digest)
  assert.equal(member.digest, first.body.digest)
  const { body: history } = await controller.call('GET', '/v1/groups/edge/deploys?limit=2')
  assert.deepEqual(
    history.deploys.map(({ rollbackTo, note }) => [rollbackTo, note]),
    [
      [first.body.deploy, 'oops'],
      [null, ''],
    ],
  )
  const repeated = await controller.call('POST', '/v1/groups/edge/rollback', { body: {} })
  assert.deepEqual([repeated.status, repeated.body.code], [404, 'GW_CONTROL_NOT_FOUND'])
  assert.equal((await controller.call('GET', '/v1/groups/edge/deploys/99')).status, 404)
})

test('If-Match and If-None-Match protect against concurrent deploys', async (t) => {
  const controller = await TestController.start(t)
  const conditional = (path: string, headers: Record<string, string>) =>
    controller.deploy('edge', documentWith(path), { headers })
  assert.equal((await conditional('/a', { 'if-match': `"${'0'.repeat(64)}"` })).body.code, 'GW_CONTROL_STALE')
  const { body } = await conditional('/a', { 'if-none-match': '*' })
  assert.equal(body.result, 'committed')
  assert.equal((await conditional('/b', { 'if-none-match': '*' })).status, 412)
  assert.equal((await conditional('/b', { 'if-match': 'x' })).status, 400)
  assert.equal((await conditional('/b', { 'if-match': `"${body.digest}"` })).status, 200)
})

test('a dry run shows the changes and stores no deploy', async (t) => {
  const controller = await TestController.start(t)
  const { body } = await controller.deploy('edge', documentWith('/a'), { options: { dryRun: true } })
  assert.equal(body.result, 'valid')
  assert.ok(body.changes.some(({ kind, what, name }) => `${kind} ${what} ${name}` === 'add route one'))
  assert.equal((await controller.call('GET', '/v1/groups/edge')).body.head, null)
})

test('progress is sent line by line', async (t) => {
  const controller = await TestController.start(t)
  await controller.member({ name: 'one' })
  const headers = { accept: 'application/x-ndjson' }
  const linesOf = async (path: string) => {
    const { text } = await controller.deploy('edge', documentWith(path), { headers })
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Body & { readonly event: string })
  }
  const lines = await linesOf('/a')
  assert.deepEqual(
    lines.slice(0, -1).map(({ event }) => event),
    ['started', 'vote', 'committed', 'active'],
  )
  assert.equal(lines.at(-1)?.result, 'committed')
  const bad = await controller.member({ name: 'bad' })
  await until(() => bad.digest !== null)
  bad.refusal = 'no'
  assert.equal((await linesOf('/b')).at(-1)?.code, 'GW_CONTROL_ABORTED')
})

test('invalid documents, plaintext secrets and private keys are refused with their places', async (t) => {
  const controller = await TestController.start(t)
  const valid = documentWith('/a')
  const secret = `${valid}    policies: [{ use: basic-auth, with: { users: [{ name: a, password: geheim }] } }]\n`
  const key = Buffer.from('-----BEGIN PRIVATE KEY-----\nMIG\n')
  const reference = `${valid}    policies: [{ use: basic-auth, with: { users: [{ name: a, password: "\${env:PASSWORD}" }] } }]\n`
  const [broken, unknown, written, keyed, referenced] = [
    await controller.deploy('edge', 'version: [1'),
    await controller.deploy('edge', valid.replace('respond', 'resbond')),
    await controller.deploy('edge', secret),
    await controller.deploy('edge', valid, { files: [['tls/key.pem', key]] }),
    await controller.deploy('edge', reference),
  ]
  for (const { status, body } of [broken, unknown, written, keyed])
    assert.deepEqual([status, body.code], [422, 'GW_CONTROL_DOCUMENT_INVALID'], JSON.stringify(body))
  assert.match(JSON.stringify(unknown.body.diagnostics), /resbond/)
  assert.match(written.body.diagnostics[0]!.message, /routes\[0\].*password' is a plaintext secret/)
  assert.doesNotMatch(JSON.stringify(written.body), /geheim/)
  assert.equal(keyed.body.diagnostics[0]?.file, 'tls/key.pem')
  assert.equal(referenced.status, 200, JSON.stringify(referenced.body))
  assert.deepEqual((await controller.call('GET', '/v1/groups/edge/deploys')).body.deploys.length, 1)
})

test('manifests with missing chunks, wrong sizes or bad paths are refused', async (t) => {
  const controller = await TestController.start(t)
  const { manifest } = bundleOf(new Map([['gateway.yaml', Buffer.from(documentWith('/a'))]]))
  const [file] = manifest.files
  const send = (files: readonly object[]) =>
    controller.call('POST', '/v1/groups/edge/deploys', { body: { manifest: { version: 1, files } } })
  const missing = await send([file!])
  assert.deepEqual([missing.status, missing.body.missing], [409, file!.chunks])
  await controller.deploy('edge', documentWith('/a'))
  for (const files of [
    [{ ...file, size: 1 }],
    [{ ...file, path: '../gateway.yaml' }],
    [{ ...file, path: 'other.yaml' }],
    [{ ...file, more: 1 }],
  ])
    assert.equal((await send(files)).status, 400)
  assert.equal((await controller.call('POST', '/v1/chunks', { body: Buffer.from('abcdefgh') })).status, 400)
})

test('roles and groups limit what a token may do', async (t) => {
  const controller = await TestController.start(t)
  const [viewer, deployer, groupAdmin, member] = await Promise.all([
    controller.token('viewer', ['edge-*']),
    controller.token('deployer', ['edge-*']),
    controller.token('admin', ['edge-*']),
    controller.token('member', ['edge-*']),
  ])
  const body = { name: 'x', role: 'admin', groups: ['*'] }
  const rows = [
    [viewer, 'GET', '/v1/groups', 200],
    [viewer, 'GET', '/v1/groups/edge-eu', 200],
    [viewer, 'GET', '/v1/groups/core', 403],
    [viewer, 'GET', '/v1/members?group=core', 403],
    [viewer, 'POST', '/v1/chunks/missing', 403],
    [viewer, 'POST', '/v1/groups/edge-eu/rollback', 403],
    [deployer, 'POST', '/v1/groups/edge-eu/rollback', 404],
    [deployer, 'POST', '/v1/groups/core/rollback', 403],
    [deployer, 'GET', '/v1/tokens', 403],
    [groupAdmin, 'GET', '/v1/tokens', 403],
    [groupAdmin, 'POST', '/v1/tokens', 403],
    [member, 'GET', '/v1/groups', 403],
    [member, 'GET', '/v1/openapi.json', 403],
    ['', 'GET', '/v1/groups', 401],
    ['wrong', 'GET', '/v1/groups', 401],
    ['', 'GET', '/healthz', 200],
    ['', 'GET', '/readyz', 200],
    [viewer, 'GET', '/nothing', 404],
  ] as const
  for (const [token, method, path, expected] of rows) {
    const sent =
      method === 'GET'
        ? {}
        : { body: path === '/v1/tokens' ? body : path.endsWith('missing') ? { chunks: [] } : {} }
    const { status } = await controller.call(method, path, { token, ...sent })
    assert.equal(status, expected, `${method} ${path}`)
  }
  const { body: groups } = await controller.call('GET', '/v1/groups', { token: viewer })
  assert.deepEqual(groups.groups, [])
})

test('the audit trail names actors and addresses, hides digests of tokens and follows the groups of the caller', async (t) => {
  const logged: object[] = []
  const info = (event: string, fields: object = {}): void => void (event === 'audit' && logged.push(fields))
  const log = { info, warn() {}, error() {} }
  const controller = await TestController.start(t, { log })
  const deployer = await controller.token('deployer', ['edge'], 'ci')
  await controller.deploy('edge', documentWith('/a'), { token: deployer })
  const { body } = await controller.call('GET', '/v1/audit')
  assert.deepEqual(JSON.parse(JSON.stringify(logged)), body.entries)
  assert.deepEqual(
    body.entries.map(({ seq, type, actor, address }) => [seq, type, actor, address]),
    [
      [1, 'token.created', 'controller', null],
      [2, 'token.created', 'admin', '127.0.0.1'],
      [3, 'deploy.started', 'ci', '127.0.0.1'],
      [4, 'deploy.committed', 'controller', null],
    ],
  )
  assert.ok(!JSON.stringify(body).includes('sha256'))
  const seen = await controller.call('GET', '/v1/audit', { token: deployer })
  assert.deepEqual(
    seen.body.entries.map(({ seq }) => seq),
    [3, 4],
  )
  const newest = await controller.call('GET', '/v1/audit?limit=1')
  assert.deepEqual(
    newest.body.entries.map(({ seq }) => seq),
    [4],
  )
})

test('OpenAPI describes every endpoint', async (t) => {
  const controller = await TestController.start(t)
  const { text } = await controller.call('GET', '/v1/openapi.json')
  type Operation = { readonly summary?: string; readonly responses?: object }
  const { openapi, paths } = JSON.parse(text) as {
    readonly openapi: string
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  }
  assert.equal(openapi, '3.1.0')
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
  )
  assert.equal(operations.length, 25)
  for (const [name, { summary, responses }] of operations) assert.ok(summary && responses, name)
})

test('members are admitted by token and group, and disconnected when the token is revoked', async (t) => {
  const controller = await TestController.start(t)
  const refusal = (token: string, group: string) => controller.refusal({ token, group })
  const [token, viewer] = [
    await controller.token('member', ['edge-*'], 'gateways'),
    await controller.token('viewer'),
  ]
  assert.match(await refusal('', 'edge-eu'), /401/)
  assert.match(await refusal('wrong', 'edge-eu'), /401/)
  assert.match(await refusal(viewer, 'edge-eu'), /403/)
  assert.match(await refusal(token, 'core'), /: the token is not for this group$/)
  assert.match(await refusal(token, 'edge-../x'), /: the name of the group is invalid$/)
  const member = await controller.member({ token, group: 'edge-eu' })
  const { body } = await controller.call('GET', '/v1/tokens')
  const known = body.tokens.find(({ name }) => name === 'gateways')
  await controller.call('DELETE', `/v1/tokens/${known?.token}`)
  await until(() => member.problems.length > 1)
  assert.match(member.problems[0]!, /: the token was revoked$/)
  assert.match(member.problems[1]!, /401/)
})

test('a removed member is forgotten, a connected one is not', async (t) => {
  const controller = await TestController.start(t)
  const member = await controller.member()
  const path = `/v1/groups/edge/members/${member.id}`
  assert.equal((await controller.call('DELETE', path)).status, 400)
  member.member.close()
  await until(async () => (await controller.call('GET', '/v1/members')).body.members[0]?.status === 'away')
  assert.equal((await controller.call('DELETE', path)).status, 204)
  assert.deepEqual((await controller.call('GET', '/v1/members')).body.members, [])
})

test('a member that shuts down gracefully is forgotten, one whose connection breaks counts as missing', async (t) => {
  const controller = await TestController.start(t)
  const [left, broken] = [await controller.member(), await controller.member()]
  left.member.close({ isLeaving: true })
  broken.member.close()
  const members = async () => (await controller.call('GET', '/v1/members')).body.members
  await until(async () => (await members()).length === 1)
  await until(async () => (await members())[0]?.status === 'away')
  assert.equal((await members())[0]!.member, broken.id)
})

test('a local deploy of a gateway shows as drift, and deploying the same bundle again corrects it', async (t) => {
  const controller = await TestController.start(t)
  const member = await controller.member()
  await controller.deploy('edge', documentWith('/a'))
  member.drift = 'replaced by a local deploy'
  await member.member.report()
  const shown = async () => (await controller.call('GET', '/v1/members')).body.members[0]!
  await until(async () => (await shown()).status === 'drifted')
  assert.equal((await shown()).reason, 'replaced by a local deploy')
  assert.equal((await controller.deploy('edge', documentWith('/a'))).body.result, 'committed')
  assert.equal((await shown()).status, 'inSync')
})

test('a restarted controller knows everything, and aborts the deploy that it was busy with', async (t) => {
  const folder = testFolder(t)
  const [store, adminTokenFile] = [join(folder, 'store'), join(folder, 'admin-token')]
  const first = await TestController.start(t, { store, adminTokenFile })
  assert.equal(statSync(adminTokenFile).mode & 0o777, 0o600)
  assert.ok(!readFileSync(join(store, 'journal.ndjson'), 'utf8').includes(first.adminToken))
  await first.deploy('edge', documentWith('/a'))
  const hanging = await first.member({ name: 'hanging' })
  await until(() => hanging.digest !== null)
  hanging.isHanging = true
  void first.deploy('edge', documentWith('/b')).catch(() => {})
  await until(() => hanging.journal.some((order) => order.startsWith('prepare')))
  await first.close()
  const second = await TestController.start(t, { store, adminTokenFile })
  const deploys = async () => (await second.call('GET', '/v1/groups/edge/deploys')).body.deploys
  await until(async () => (await deploys())[0]?.status === 'aborted')
  assert.deepEqual((await deploys())[0]?.reasons, ['the controller that coordinated it stopped'])
  const [known] = (await second.call('GET', '/v1/members')).body.members
  assert.deepEqual([known?.name, known?.status], ['hanging', 'away'])
})

test('without TLS a controller listens on loopback only, and its folder stays free', async (t) => {
  const folder = testFolder(t)
  const options = { store: join(folder, 'store'), adminTokenFile: join(folder, 'token'), host: '0.0.0.0' }
  await assert.rejects(TestController.start(t, options), /not loopback; set a certificate/)
  await (await FolderStore.open(options.store)).close()
})

test('a client certificate admits a member to the groups in its organizational units', async (t) => {
  const folder = testFolder(t)
  const openssl = (...args: string[]): void => {
    const { status, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=ca', '-days', '2')
  for (const [name, subject] of [
    ['good', '/CN=gw1/OU=edge-*'],
    ['plain', '/CN=gw2'],
  ] as const) {
    openssl('req', '-new', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject)
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-out',
      `${name}.crt`,
      '-days',
      '2',
    )
  }
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'self.key',
    '-out',
    'self.crt',
    '-subj',
    '/CN=gw3/OU=edge-*',
    '-days',
    '2',
  )
  writeFileSync(join(folder, 'empty'), '')
  const file = (name: string): string => join(folder, name)
  const tls = { certFile: file('good.crt'), keyFile: file('good.key'), clientCaFile: file('ca.crt') }
  const controller = await TestController.start(t, {
    tls,
    store: file('store'),
    adminTokenFile: file('token'),
  })
  const fingerprints = [new X509Certificate(readFileSync(file('good.crt'))).fingerprint256]
  const as = (name: string, group: string) => {
    const [cert, key] = [`${name}.crt`, `${name}.key`].map((part) => readFileSync(file(part), 'utf8'))
    const pin = fingerprints.map((text) => text.replaceAll(':', '').toLowerCase())
    const client = { cert: cert!, key: key! }
    return { group, token: '', credentials: () => ({ token: null, ca: null, client, fingerprints: pin }) }
  }
  await controller.member(as('good', 'edge-eu'))
  assert.match(await controller.refusal(as('good', 'core')), /not for this group/)
  assert.match(await controller.refusal(as('plain', 'edge-eu')), /401/)
  assert.match(await controller.refusal(as('self', 'edge-eu')), /401/)
  // The certificate of the controller is signed, but for another name.
  const ca = readFileSync(file('ca.crt'), 'utf8')
  const named = () => ({ token: 'secret', ca, client: null, fingerprints: [] })
  assert.match(await controller.refusal({ credentials: named }), /does not match certificate's altnames/)
})
