import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const WORKSPACES = readJson('package.json').workspaces

// npm ci of npm 11.10 and later refuses a lock file that leaves out an optional package.
for (const file of ['package-lock.json', 'tools/isolated-vm/package-lock.json']) {
  test(`${file} has an entry for every optional package, so that npm ci takes it`, () => {
    const { packages } = readJson(file)
    const missing = Object.values(packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => packages[`node_modules/${name}`] === undefined)
    assert.deepEqual(missing, [])
  })
}

test('every package requires the Node.js versions that the engine supports', () => {
  for (const folder of ['.', ...WORKSPACES]) {
    assert.equal(readJson(join(folder, 'package.json')).engines?.node, '^20.19.0 || ^22.0.0', folder)
  }
})

for (const [program, file] of [
  ['gw', 'packages/cli/bin/gw.mjs'],
  ['Sluice', 'tools/prepare.mjs'],
]) {
  for (const version of ['18.20.8', '20.18.3', '21.7.3', '23.11.1', '24.1.0']) {
    test(`${file} refuses Node.js ${version} with one line`, () => {
      const { status, stdout, stderr } = runAs(version, file)
      assert.equal(status, 1)
      assert.equal(
        stdout + stderr,
        `${program} needs Node.js 20 (20.19 or later) or 22, but this is ${version}; install a supported version\n`,
      )
    })
  }
}

test('gw runs on Node.js 20.19 and 22', () => {
  for (const version of ['20.19.0', '22.0.0', '22.23.3']) {
    assert.equal(runAs(version, 'packages/cli/bin/gw.mjs', '--version').status, 0, version)
  }
})

/** Runs a program of the repository in a process that takes itself for another version of Node.js. */
function runAs(version, file, ...args) {
  const disguise = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  return spawnSync(process.execPath, ['--import', `data:text/javascript,${disguise}`, file, ...args], {
    cwd: root,
    encoding: 'utf8',
  })
}

function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'))
}
