import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { run } from './run.mjs'
import { fetchPrograms } from './trial/programs.mjs'
import { Project } from './trial/project.mjs'
import { startRegistry } from './trial/registry.mjs'

// Makes a release and uses it as users do, with npm and pnpm, on Node.js 20.19 and 22 (npm run test:release).

const VERSION = '9.8.7'
const PLUGIN = 'sluice-plugin-labels'
const root = join(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'sluice-trial-'))
const obstacle = fetchPrograms()
if (obstacle !== null && process.env.CI === 'true') throw new Error(`cannot fetch programs: ${obstacle}`)
const skip = obstacle !== null && `the package registry is not reachable: ${obstacle}`
const out = join(scratch, 'release')
after(() => rmSync(scratch, { recursive: true, force: true }))

test('two releases of a commit have the same bytes', { skip }, () => {
  const [sums, again] = [out, `${out}-again`].map((folder) => {
    run(
      process.execPath,
      ['tools/release.mjs', '--dirty', '--no-image', '--version', VERSION, '--out', folder],
      { cwd: root },
    )
    return readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
  })
  assert.equal(sums, again)
  run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: out })
})

for (const [manager, node, source] of [
  ['npm', 'node20', 'tarballs'],
  ['npm', 'node22', 'registry'],
  ['pnpm', 'node20', 'registry'],
  ['pnpm', 'node22', 'registry'],
]) {
  test(`with ${manager} on ${node}, from ${source}: gw, a gateway and a plugin work`, { skip }, async (t) => {
    const registry = await startRegistry(out)
    t.after(() => registry.close())
    const project = new Project(join(scratch, `${manager}-${node}`), {
      manager,
      node,
      registry: registry.url,
    })
    project.write('package.json', '{ "private": true }')
    await t.test('installation prints no warning', async () => {
      await project.install(...(source === 'tarballs' ? tarballs() : [`@sluice/cli@${VERSION}`]))
      assert.match(
        await project.exec('gw', 'version'),
        new RegExp(`^gw ${VERSION} \\(Node.js ${node.slice(4)}\\.`),
      )
    })
    const target = await labelServer(t)
    await t.test('a gateway serves', () => expectAnswer(project, documentOf(target, []), 'none'))
    await t.test('a new plugin compiles in strict TypeScript projects and passes its tests', async () => {
      await project.exec('gw', 'plugin', 'new', PLUGIN)
      const plugin = project.inside(PLUGIN, registry.url)
      await plugin.install()
      assert.match(await plugin.run(manager, 'test'), /ok +contract of labels/)
      for (const module of [
        ['nodenext', 'nodenext'],
        ['esnext', 'bundler'],
      ])
        await plugin.exec(
          'tsc',
          '--noEmit',
          '--skipLibCheck',
          'false',
          '--module',
          module[0],
          '--moduleResolution',
          module[1],
        )
      await plugin.run('npm', 'pack', '--silent')
    })
    await t.test('a gateway uses the plugin', async () => {
      await project.install(`./${PLUGIN}/${PLUGIN}-0.1.0.tgz`)
      await expectAnswer(project, documentOf(target, [PLUGIN]), 'acme')
    })
  })
}

test('npm create sluice makes a project with a valid document', { skip }, async (t) => {
  const registry = await startRegistry(out)
  t.after(() => registry.close())
  const folder = new Project(join(scratch, 'create'), {
    manager: 'npm',
    node: 'node22',
    registry: registry.url,
  })
  const create = [
    'exec',
    '--yes',
    '--package',
    join(out, `create-sluice-${VERSION}.tgz`),
    '--',
    'create-sluice',
  ]
  assert.match(await folder.run('npm', ...create, 'my-gateway'), /created my-gateway\/gateway\.yaml/)
  const project = folder.inside('my-gateway', registry.url)
  await project.install()
  assert.match(await project.exec('gw', 'validate', 'gateway.yaml'), /ok \(1 route, 1 upstream\)/)
})

test('without optional packages, gw refuses what needs them and serves the rest', { skip }, async (t) => {
  const registry = await startRegistry(out)
  t.after(() => registry.close())
  const project = new Project(join(scratch, 'minimal'), {
    manager: 'npm',
    node: 'node20',
    registry: registry.url,
  })
  project.write('package.json', '{ "private": true }')
  await project.install('--omit=optional', `@sluice/cli@${VERSION}`)
  assert.ok(!existsSync(join(project.folder, 'node_modules/@sluice/policies-xml')))
  await expectAnswer(project, documentOf(await labelServer(t), []), 'none')
})

function tarballs() {
  return readdirSync(out)
    .filter((file) => file.endsWith('.tgz') && !file.includes('bench'))
    .map((file) => join(out, file))
}

/** Starts a server that answers with the label that the plugin sets. */
async function labelServer(t) {
  const server = createServer((request, response) => response.end(request.headers['x-tenant'] ?? 'none'))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${server.address().port}`
}

function documentOf(target, plugins) {
  return JSON.stringify({
    version: 1,
    workers: 1,
    plugins,
    listeners: [{ address: '127.0.0.1:0' }],
    admin: { address: '127.0.0.1:0' },
    upstreams: { labels: { targets: [target] } },
    routes: [
      {
        id: 'all',
        match: { path: '/*' },
        upstream: 'labels',
        policies: plugins.map(() => ({ use: 'labels', with: { field: 'x-tenant', value: 'acme' } })),
      },
    ],
  })
}

async function expectAnswer(project, document, answer) {
  project.write('gateway.yaml', document)
  const gateway = await project.startGateway('gateway.yaml')
  try {
    const response = await fetch(`${gateway.url}/orders`)
    assert.deepEqual([response.status, await response.text()], [200, answer])
  } finally {
    await gateway.stop()
  }
}
