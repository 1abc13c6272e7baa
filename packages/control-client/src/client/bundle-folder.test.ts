import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Bundle } from '../manifest/manifest.js'
import { testBundle } from '../testing/scripted-controller.js'
import { BundleFolder } from './bundle-folder.js'

const STORE = '00000000-0000-4000-8000-000000000001'

function newRoot(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'bundles-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return join(dir, 'control')
}

/** Places a bundle with all its chunks and makes it the active one. */
async function activate(
  folder: BundleFolder,
  deploy: number,
  { manifest, digest, chunks }: Bundle,
): Promise<void> {
  await folder.place(manifest, chunks)
  folder.stage({ store: STORE, group: 'g', deploy, digest, note: '', actor: 'ann' })
  folder.commit(deploy)
}

const bundlesIn = (root: string): string[] => readdirSync(join(root, 'bundles')).sort()

test('the active bundle and its pointer are there after a restart, and older ones are deleted', async (t) => {
  const root = newRoot(t)
  const folder = new BundleFolder(root)
  const bundles = ['one', 'two', 'three'].map((text) => testBundle(text, { 'a/b/schema.json': '{}' }))
  for (const [i, bundle] of bundles.entries()) await activate(folder, i + 1, bundle)
  const again = new BundleFolder(root)
  const [, two, three] = bundles.map(({ digest }) => digest)
  assert.deepEqual(again.active, folder.active)
  assert.deepEqual([again.active?.digest, again.active?.previous, again.active?.deploy], [three, two, 3])
  assert.equal(again.member, folder.member)
  assert.deepEqual(bundlesIn(root), [two, three].sort())
  assert.equal(readFileSync(again.documentPath(three!), 'utf8'), 'three')
  assert.equal(readFileSync(join(again.documentPath(three!), '../a/b/schema.json'), 'utf8'), '{}')
  assert.ok(again.isWhole(three!))
})

test('only the owner can read what is stored', async (t) => {
  const root = newRoot(t)
  await activate(new BundleFolder(root), 1, testBundle('one', { 'a/b': 'x' }))
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  assert.ok(entries.length > 6)
  for (const entry of entries) {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
    assert.equal(mode, entry.isDirectory() ? 0o700 : 0o600, entry.name)
  }
})

test('only chunks that no kept bundle has are missing', async (t) => {
  const folder = new BundleFolder(newRoot(t))
  const text = Array.from({ length: 5000 }, (_, i) => `- route ${i}\n`).join('')
  const first = testBundle(text)
  assert.equal(folder.missingChunks(first.manifest).length, first.chunks.size)
  await activate(folder, 1, first)
  const second = testBundle(text.replace('route 2500', 'route changed'))
  const missing = folder.missingChunks(second.manifest)
  assert.ok(missing.length >= 1 && missing.length < first.chunks.size / 2)
  await folder.place(second.manifest, new Map(missing.map((digest) => [digest, second.chunks.get(digest)!])))
  assert.ok(folder.isWhole(second.digest))
})

test('a damaged file is noticed, and its chunks are missing again', async (t) => {
  const root = newRoot(t)
  const bundle = testBundle('one', { other: 'two' })
  await activate(new BundleFolder(root), 1, bundle)
  const folder = new BundleFolder(root)
  writeFileSync(join(folder.documentPath(bundle.digest), '../other'), 'changed')
  assert.equal(folder.isWhole(bundle.digest), false)
  assert.equal(folder.missingChunks(bundle.manifest).length, 1)
  await folder.place(bundle.manifest, bundle.chunks)
  assert.ok(folder.isWhole(bundle.digest))
})

test('a chunk that is missing, wrong or of another size leaves nothing behind', async (t) => {
  const root = newRoot(t)
  const folder = new BundleFolder(root)
  const bundle = testBundle('one', { other: 'two' })
  const [digest] = [...bundle.chunks.keys()]
  const wrong = new Map(bundle.chunks).set(digest!, Buffer.from('evil'))
  await assert.rejects(folder.place(bundle.manifest, wrong), /missing or damaged/)
  await assert.rejects(folder.place(bundle.manifest, new Map()), /missing or damaged/)
  const files = bundle.manifest.files.map((file) => ({ ...file, size: file.size + 1 }))
  await assert.rejects(folder.place({ version: 1, files }, bundle.chunks), /bytes in place of/)
  const outside = [{ ...bundle.manifest.files[0]!, path: '../evil' }, bundle.manifest.files[0]!]
  await assert.rejects(folder.place({ version: 1, files: outside }, bundle.chunks), /is invalid/)
  assert.deepEqual(bundlesIn(root), [])
  assert.equal(folder.active, null)
})

test('a damaged pointer counts as none, and does not lead out of the folder', async (t) => {
  const root = newRoot(t)
  await activate(new BundleFolder(root), 1, testBundle('one'))
  const pointer = join(root, 'active.json')
  const stored = readFileSync(pointer, 'utf8')
  for (const text of ['', '{', 'null', stored.replace(/"digest":"[^"]*"/, '"digest":"../../x"')]) {
    writeFileSync(pointer, text)
    assert.equal(new BundleFolder(root).active, null)
  }
})

test('a full disk refuses a bundle and keeps the active one', {
  skip: spawnSync('unshare', ['-rm', 'true']).status !== 0 && 'no user namespaces',
}, (t) => {
  const root = newRoot(t)
  const program = fileURLToPath(new URL('../testing/full-disk-program.js', import.meta.url))
  const dir = join(root, '..')
  const output = `${dir}.txt`
  t.after(() => rmSync(output, { force: true }))
  const script = `mount -t tmpfs -o size=256k none ${dir} && exec ${process.execPath} ${program} ${root} ${output}`
  const { stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', script], { encoding: 'utf8' })
  assert.equal(readFileSync(output, 'utf8'), 'ENOSPC, active 1, whole, 1 bundles', stderr)
})
