import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Some releases declare a Node.js they do not load on, others load on one they do not declare: only importing shows it.

const root = fileURLToPath(new URL('..', import.meta.url))
const manifests = ['bench', ...readdirSync(join(root, 'packages')).map((name) => join('packages', name))]

/** Packages without an entry, or whose entry asks for what not every Node.js has, and the part of them that is used. */
const PARTS = new Map([
  ['libxslt-wasm', 'libxslt-wasm/output/libxslt.js'],
  ['@sluice/cli', '@sluice/cli/kit'],
])

/** Importing it runs it; the tests of the policy that confines it do. */
const PROGRAMS = new Set(['xslt3'])

for (const folder of manifests) {
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (PROGRAMS.has(name)) continue
    test(`${folder} can import ${name} on Node.js ${process.versions.node}`, async () => {
      const resolved = await resolveFrom(folder, PARTS.get(name) ?? name)
      assert.ok(Object.keys(await import(resolved)).length > 0)
    })
  }
}

/** As the package itself would find it; packages without a CommonJS entry are found by name from here. */
async function resolveFrom(folder, name) {
  try {
    return pathToFileURL(createRequire(join(root, folder, 'package.json')).resolve(name)).href
  } catch {
    return name
  }
}
