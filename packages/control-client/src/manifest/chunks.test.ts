import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { chunkDigest, chunksOf, MAX_CHUNK_BYTES } from './chunks.js'
import { bundleOf, type Manifest, type ManifestFile, manifestDigest, manifestProblem } from './manifest.js'

const routes = (count: number, changed = -1): Buffer =>
  Buffer.from(
    Array.from(
      { length: count },
      (_, i) =>
        `  - name: route-${i}\n    match: { path: /r${i}${i === changed ? '/new' : ''} }\n    upstream: up${i % 7}\n`,
    ).join(''),
  )

test('the chunks of a file are its bytes, and none is too large', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300_000, size: 'max' }), (bytes) => {
      const chunks = chunksOf(Buffer.from(bytes))
      assert.ok(Buffer.concat(chunks.map((chunk) => chunk.bytes)).equals(bytes))
      assert.ok(
        chunks.every(
          (chunk) => chunk.bytes.length <= MAX_CHUNK_BYTES && chunk.digest === chunkDigest(chunk.bytes),
        ),
      )
    }),
    { numRuns: 30 },
  )
})

test('a change of one route changes at most three chunks', () => {
  const before = new Set(chunksOf(routes(5000)).map(({ digest }) => digest))
  assert.ok(before.size > 15)
  for (const changed of [0, 1, 77, 2500, 4999]) {
    const added = chunksOf(routes(5000, changed)).filter(({ digest }) => !before.has(digest))
    assert.ok(added.length >= 1 && added.length <= 3, `${added.length} chunks for route ${changed}`)
  }
})

test('a bundle is identified by its files, in any order', () => {
  const files: [string, Buffer][] = [
    ['schemas/a.json', Buffer.from('{}')],
    ['gateway.yaml', routes(3)],
  ]
  const bundle = bundleOf(new Map(files))
  assert.equal(bundle.digest, bundleOf(new Map(files.toReversed())).digest)
  assert.equal(bundle.digest, manifestDigest(bundle.manifest))
  assert.notEqual(bundle.digest, bundleOf(new Map([['gateway.yaml', routes(3)]])).digest)
  assert.deepEqual(
    bundle.manifest.files.map(({ path }) => path),
    ['gateway.yaml', 'schemas/a.json'],
  )
})

test('paths that leave the folder or collide are refused', () => {
  const entry = (path: string): ManifestFile => ({ path, size: 0, chunks: [] })
  const problemOf = (...paths: string[]): string | null => {
    const manifest: Manifest = { version: 1, files: ['gateway.yaml', ...paths].sort().map(entry) }
    return manifestProblem(manifest)
  }
  assert.equal(problemOf('schemas/order v2.json', 'a/b/c.xslt'), null)
  const hostile = [
    '../x',
    'a/../x',
    '/etc/passwd',
    'a//b',
    './x',
    '.env',
    'a/.git',
    'a\\b',
    'a\0b',
    'a\nb',
    '',
    'a/',
    'ü',
    'C:x',
    'a'.repeat(300),
  ]
  for (const path of hostile) assert.match(problemOf(path) ?? 'accepted', /is invalid/, JSON.stringify(path))
  assert.match(problemOf('a', 'a/b') ?? '', /'a' is a file and a folder/)
  assert.match(problemOf('A', 'a') ?? '', /occurs twice/)
  assert.match(problemOf('a', 'a') ?? '', /not sorted/)
  assert.match(
    manifestProblem({ version: 1, files: [entry('other.yaml')] }) ?? '',
    /does not contain gateway.yaml/,
  )
  const huge = { path: 'gateway.yaml', size: 1000, chunks: [] }
  assert.match(manifestProblem({ version: 1, files: [huge] }) ?? '', /too few chunks/)
})
