import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Machine, machineObstacle } from './machine.mjs'

/**
 * Tests the unit of `gw service install` under systemd in a container. The tests depend on their order, as the stages of
 * a service do.
 */
const GW = '/opt/node/node /opt/sluice/packages/cli/bin/gw.mjs'
/** Listens on privileged ports, with both engines. */
const DOCUMENT = `version: 1
workers: 1
listeners:
  - { address: '127.0.0.1:80', health: true }
  - { address: '127.0.0.1:443', engine: node, tls: { certFile: cert.pem, keyFile: key.pem } }
upstreams:
  itself: { targets: ['https://localhost'], tls: { insecure: true } }
routes:
  - { id: greeting, match: { path: /greeting }, respond: { body: '\${env:GREETING}, \${file:whom}' } }
  - { id: proxied, match: { path: /proxied }, rewrite: { path: /greeting }, upstream: itself }
  - id: slow
    match: { path: /slow }
    policies: [{ use: fault, when: 'req.method == "GET"', with: { delay: { duration: 2s } } }]
    respond: { body: slow }
  - id: sum
    match: { path: /sum }
    policies:
      - use: script
        with:
          engine: quickjs
          body: request
          script: { inline: 'export const onRequest = (ctx) => ctx.respond(200, { sum: ctx.req.body.json().reduce((a, b) => a + b) })' }
    respond: { status: 500 }
  - id: number
    match: { path: /number }
    policies:
      - use: xsd
        with:
          root: a.xsd
          schemas: [{ systemId: a.xsd, inline: '<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="a" type="int"/></schema>' }]
    respond: { body: a number }
`
const CERTIFICATE =
  'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -subj /CN=localhost'

const skip = machineObstacle() ?? false
const machine = new Machine()
let steps

before(() => (skip ? undefined : machine.start()))
after(() => (skip ? undefined : machine.end()))

test('with the steps that install names, and no other, it serves', { skip }, async () => {
  const installed = succeed(`${GW} service install`).split('\n')
  steps = installed.filter((line) => line.startsWith('  ')).map((line) => line.trim())
  const [enable, ...others] = steps.toReversed()
  assert.equal(enable, 'systemctl enable --now sluice')
  machine.run('cat > gateway.yaml', DOCUMENT)
  for (const step of others.toReversed()) succeed(step)
  succeed('echo GREETING=hello > /etc/sluice/environment; chmod 600 /etc/sluice/environment')
  succeed(
    `cd /etc/sluice && ${CERTIFICATE} && echo world > whom && chgrp sluice *.pem whom && chmod 640 *.pem whom`,
  )
  succeed(enable)
  await serving()
  assert.equal(ask('/greeting'), 'hello, world')
})

test('its policies, listeners, upstreams and log can do what they have to', { skip }, async () => {
  assert.equal(ask('/proxied'), 'hello, world')
  assert.equal(ask('/sum --data [1,2,3] --header content-type:application/json'), '{"sum":6}')
  assert.equal(ask("/number --data '<a>7</a>' --header content-type:application/xml"), 'a number')
  await machine.until(() => Number(machine.run('cat /var/lib/sluice/data/traffic/* | wc -l').stdout) >= 4)
})

test('it can do nothing else: no privilege but low ports, no file but its own, no other process', {
  skip,
}, () => {
  const facts = succeed(`cat /proc/${mainPid()}/status`)
  for (const fact of [
    /^Uid:\t([1-9]\d*)\t\1\t\1\t\1$/m,
    /^CapEff:\t0000000000000400$/m,
    /^NoNewPrivs:\t1$/m,
    /^Seccomp:\t2$/m,
  ])
    assert.match(facts, fact)
  const inService = `nsenter --target=${mainPid()} --mount setpriv --reuid=sluice --regid=sluice --clear-groups`
  const places = [
    '/etc/sluice',
    '/etc',
    '/usr',
    '/var',
    '/var/lib',
    '/run',
    '/dev',
    '/var/lib/sluice',
    '/tmp',
  ]
  const writable = succeed(
    `${inService} sh -c 'for p in ${places.join(' ')}; do if test -w $p; then echo $p; fi; done'`,
  )
  assert.equal(writable, '/var/lib/sluice\n/tmp\n')
  assert.notEqual(machine.run(`${inService} test -e /proc/1`).status, 0)
  assert.match(
    succeed('systemd-analyze verify sluice.service; systemd-analyze security --threshold=15 sluice'),
    /./,
  )
})

test('a reload brings what references name now, with the same processes', { skip }, async () => {
  const pid = mainPid()
  succeed('echo all > /etc/sluice/whom; systemctl reload sluice')
  await machine.until(() => ask('/greeting') === 'hello, all')
  assert.equal(mainPid(), pid)
})

test('an upgrade replaces its processes and keeps its main process', { skip }, async () => {
  const [pid, workers] = [mainPid(), succeed('pgrep --parent $(pgrep --parent ' + mainPid() + ')')]
  assert.match(succeed(`${GW} upgrade`), /^upgraded from /)
  await machine.until(() => machine.run(`ps -o pid= ${workers.split('\n').join(' ')}`).stdout === '')
  assert.equal(ask('/greeting'), 'hello, all')
  assert.deepEqual([mainPid(), shown('NRestarts')[0]], [pid, '0'])
})

test('when it is killed it is started again', { skip }, async () => {
  succeed('systemctl kill --signal=KILL --kill-who=main sluice')
  await machine.until(() => shown('NRestarts')[0] === '1')
  await serving()
  assert.equal(ask('/greeting'), 'hello, all')
})

test('a stop waits for what is in flight', { skip }, async () => {
  let isSeen = false
  // Repeated, because the process may end before it is inspected.
  let answer
  await machine.until(() => {
    answer ??= machine.runAside('curl -sS http://127.0.0.1/slow').finally(() => {
      if (!isSeen) answer = undefined
    })
    isSeen = /^gw_requests_in_flight\S* 1$/m.test(succeed('curl -sS http://127.0.0.1:9901/metrics'))
    return isSeen
  })
  succeed('systemctl stop sluice')
  assert.equal(await answer, 'slow')
  assert.deepEqual(shown('Result', 'ExecMainStatus'), ['success', '0'])
})

test('a document with a mistake, and no good one before it, is not tried again and again', {
  skip,
}, async () => {
  succeed('echo mistake: 1 >> /etc/sluice/gateway.yaml; rm -r /var/lib/sluice/data; systemctl start sluice')
  await machine.until(() => machine.run('systemctl is-failed sluice').status === 0)
  assert.deepEqual(shown('ExecMainStatus', 'NRestarts'), ['3', '0'])
  assert.match(machine.run('systemctl status sluice').stdout, /gateway\.yaml:\d+:\d+: unknown key 'mistake'/)
})

test('uninstall leaves nothing of it to systemd, and all of it to its owner', { skip }, () => {
  assert.match(machine.run(`${GW} service uninstall`).stderr, /sluice is enabled/)
  succeed(
    `systemctl disable --now sluice; ${GW} service uninstall; systemctl daemon-reload; systemctl reset-failed`,
  )
  assert.equal(machine.run('systemctl cat sluice').status, 1)
  succeed('test -f /etc/sluice/gateway.yaml && test -d /var/lib/sluice && id sluice')
})

function ask(what) {
  return machine.run(`curl -sS http://127.0.0.1${what}`).stdout
}

function serving() {
  return machine.until(() => machine.run('curl -sSf http://127.0.0.1/-/readyz').status === 0)
}

function mainPid() {
  return shown('MainPID')[0]
}

/** Returns properties of the service. */
function shown(...names) {
  return names.map((name) => succeed(`systemctl show --property=${name} --value sluice`).trim())
}

function succeed(command) {
  const { status, stdout, stderr } = machine.run(command)
  assert.equal(status, 0, `${command}: ${stdout}${stderr}`)
  return stdout
}
