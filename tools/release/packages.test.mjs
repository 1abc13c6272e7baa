import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { publint } from 'publint'
import { satisfies } from 'semver'
import { closure } from './bundled.mjs'
import { changelogOf } from './changelog.mjs'
import { stagePackages } from './pack.mjs'
import { readJson } from './run.mjs'
import { billOfMaterials } from './sbom.mjs'

// Checks the folders that a release packs. install-trial.mjs installs the tarballs (npm run test:release).

const root = join(import.meta.dirname, '../..')
const VERSION = '7.8.9-rc.1'
const REPOSITORY = 'git+https://git.example.com/acme/sluice.git'
const staging = mkdtempSync(join(tmpdir(), 'sluice-staged-'))
after(() => rmSync(staging, { recursive: true, force: true }))

const packages = stagePackages(root, staging, {
  version: VERSION,
  repository: REPOSITORY,
  changelog: '# C\n',
}).map(({ name, folder }) => ({ name, folder, manifest: readJson(join(folder, 'package.json')) }))
const { packages: lock } = readJson(join(root, 'package-lock.json'))

test('every package has what a registry shows, and internal dependencies at the exact version', () => {
  const names = packages.map(({ name }) => name)
  assert.ok(names.includes('create-sluice') && names.includes('@sluice/cli'))
  for (const { name, folder, manifest } of packages) {
    const { version, license, engines, publishConfig, repository } = manifest
    assert.deepEqual(
      { version, license, engines, publishConfig, url: repository.url },
      {
        version: VERSION,
        license: 'Apache-2.0',
        engines: { node: '^20.19.0 || ^22.0.0' },
        publishConfig: { access: 'public', provenance: true, tag: 'next' },
        url: REPOSITORY,
      },
      name,
    )
    for (const [dependency, range] of Object.entries(dependenciesOf(manifest))) {
      if (names.includes(dependency)) assert.equal(range, VERSION, `${name} needs ${dependency}`)
    }
    for (const key of ['scripts', 'devDependencies', 'private']) assert.equal(manifest[key], undefined, name)
    for (const file of ['README.md', 'LICENSE', 'NOTICE'])
      assert.ok(existsSync(join(folder, file)), `${name}: ${file}`)
  }
})

test('packages hold what gw needs, and no tests, sources or source maps', () => {
  for (const [name, file] of [
    ['@sluice/cli', 'bin/gw.mjs'],
    ['@sluice/cli', 'dist/man/gw-deploy.1'],
    ['@sluice/cli', 'CHANGELOG.md'],
    ['@sluice/bench', 'reference/apinizer.json'],
    ['@sluice/gateway', 'dist/bundle/worker.main.js'],
    ['@sluice/policies', 'src/auth/jwt/example.yaml'],
    ['@sluice/policies', 'dist/testing.d.ts'],
    ['@sluice/policies-xml', 'dist/bundle/engines.xslt.saxon.engine-main.js'],
    ['@sluice/logger', 'dist/bundle/outputs.custom.load-thread.js'],
    ['@sluice/ui', 'dist/web/control.html'],
  ]) {
    const { folder } = packages.find((one) => one.name === name)
    assert.ok(existsSync(join(folder, file)), `${name} has no ${file}`)
  }
  const { folder } = packages.find(({ name }) => name === '@sluice/cli')
  assert.match(
    readFileSync(join(folder, 'dist/man/gw.1'), 'utf8'),
    new RegExp(`^\\.TH .*"Sluice ${VERSION}"`),
  )
  const unwanted = packages.flatMap(({ folder }) =>
    filesOf(folder).filter((file) => /\.test\.|\.map$|(?<!\.d)\.ts$/.test(file)),
  )
  assert.deepEqual(unwanted, [])
})

test('every import in a package is of a package that it declares', () => {
  const missing = packages.flatMap(({ name, folder, manifest }) => {
    const declared = [name, ...Object.keys(dependenciesOf(manifest))]
    return filesOf(folder)
      .filter((file) => /^dist\/.*\.(?:js|d\.ts)$/.test(file) && !file.startsWith('dist/web/'))
      .flatMap((file) => importsOf(join(folder, file)))
      .filter((imported) => !isBuiltin(imported) && !declared.includes(imported))
      .map((imported) => `${name}: ${imported}`)
  })
  assert.deepEqual([...new Set(missing)], [])
  const { folder } = packages.find(({ name }) => name === '@sluice/config')
  assert.ok(importsOf(join(folder, 'dist/bundle/index.js')).includes('@sluice/core'))
})

test('publint finds nothing', async () => {
  for (const { name, folder } of packages) {
    const { messages } = await publint({ pkgDir: folder, pack: false, level: 'warning' })
    assert.deepEqual(messages, [], name)
  }
})

test('what npm installs accepts every supported Node.js and runs no scripts', () => {
  const installed = packages.flatMap(({ manifest }) => {
    const own = new Set([...packages.map(({ name }) => name), ...(manifest.bundleDependencies ?? [])])
    const { dependencies, optionalDependencies } = manifest
    const names = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !own.has(name))
    return closure(
      names.filter((name) => lock[`node_modules/${name}`] !== undefined),
      lock,
    )
  })
  const unsuitable = [...new Set(installed)].filter((path) => {
    const { engines, hasInstallScript, deprecated } = lock[path]
    const suits = ['20.19.0', '22.0.0'].every((version) => satisfies(version, engines?.node ?? '*'))
    return !suits || hasInstallScript || deprecated !== undefined
  })
  assert.deepEqual(unsuitable, [])
})

test('the bill of materials names the released version, and is the same each time', () => {
  const [bill, again] = [1, 2].map(() => billOfMaterials(root, { version: VERSION, epoch: 86_400 }))
  assert.equal(bill, again)
  const { metadata, components } = JSON.parse(bill)
  assert.deepEqual(
    [metadata.component.name, metadata.component.version, metadata.timestamp],
    ['sluice', VERSION, '1970-01-02T00:00:00.000Z'],
  )
  const gateway = components.find(({ purl }) => purl.startsWith('pkg:npm/%40sluice/gateway@'))
  assert.equal(gateway.purl, `pkg:npm/%40sluice/gateway@${VERSION}`)
  assert.equal(gateway.version, VERSION)
  assert.ok(components.some(({ name }) => name === 'undici'))
})

const LOG = '# Changelog\n\n## Unreleased\n\n### Added\n- New.\n\n## 1.0.0 (2026-01-01)\n- First.\n'

test('release notes are cut out of the changelog', () => {
  const next = changelogOf(LOG, '1.1.0', '2026-12-01')
  assert.equal(next.notes, '## 1.1.0 (2026-12-01)\n\n### Added\n- New.\n')
  assert.ok(next.changelog.startsWith('# Changelog\n\n## 1.1.0 (2026-12-01)\n'))
  assert.deepEqual(changelogOf(LOG, '1.0.0', '2026-12-01'), {
    changelog: LOG,
    notes: '## 1.0.0 (2026-01-01)\n- First.\n',
  })
  for (const text of ['# Changelog\n', '## Unreleased\n\n## 1.0.0\n- First.\n'])
    assert.throws(() => changelogOf(text, '1.1.0', '2026-12-01'), /has no entries/)
})

function dependenciesOf({ dependencies, optionalDependencies, peerDependencies }) {
  return { ...dependencies, ...optionalDependencies, ...peerDependencies }
}

/** Returns the files of a prepared package, without the dependencies that it ships. */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true }).filter((file) => !file.startsWith('node_modules/'))
}

/** An import or export from a package, an import for its effects, a lazy import, or the import of a type. */
const IMPORT =
  /^(?:import|export)\b[^'"`]*?\bfrom\s*["']([^."'][^"']*)["']|(?:^import\s*|\bimport\()["']([^."'][^"']*)["']/gm

function importsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, from, other]) => {
    const path = from ?? other
    return isBuiltin(path)
      ? path
      : path
          .split('/')
          .slice(0, path.startsWith('@') ? 2 : 1)
          .join('/')
  })
}
