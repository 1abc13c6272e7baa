import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const unitFile = (name) => fileURLToPath(new URL(`../deploy/systemd/${name}.service`, import.meta.url))
const UNIT = unitFile('sluice')
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test('systemd finds nothing wrong with the unit', {
  skip: hasSystemd ? false : 'needs systemd-analyze',
}, (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-unit-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  for (const name of ['sluice', 'sluice-control']) {
    const unit = join(dir, `${name}.service`)
    // gw is not installed where the tests run.
    writeFileSync(
      unit,
      readFileSync(unitFile(name), 'utf8').replaceAll('/usr/local/bin/gw', process.execPath),
    )
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    assert.deepEqual([status, stdout + stderr], [0, ''])
  }
})

test('nothing in the unit keeps a gateway from the last good document when its own has a mistake', () => {
  assert.doesNotMatch(readFileSync(UNIT, 'utf8'), /^ExecStartPre=|^ExecCondition=/m)
})

test('little of the machine is exposed to the service, as systemd counts it', {
  skip: hasSystemd ? false : 'needs systemd-analyze',
}, () => {
  // Of 100; the same count as that of the service while it runs.
  const args = ['security', '--offline=true', '--no-pager', '--threshold=15']
  for (const unit of [UNIT, unitFile('sluice-control')]) {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, unit], { encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
  }
})
