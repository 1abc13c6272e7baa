import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchDir, until } from '../testing.js'
import { FormerSpoolWatch, formerSpools } from './former-spools.js'
import { ownerName } from './owner-name.js'
import { kill, openSpool, put } from './testing/open-spool.js'

/** Creates a spool in which an owner has left a number of records. */
function leave(parent: string, name: string, records: number) {
  const root = join(parent, name)
  mkdirSync(root, { recursive: true })
  const { spool, options } = openSpool(root)
  put(spool, records)
  return { root, spool, owner: options.owner }
}

test('records of a target that is gone are found beside the spools in use, and those in use are not', async () => {
  const data = scratchDir()
  leave(data, 'spool-siem', 10).spool.close()
  leave(data, 'spool', 20).spool.close()
  leave(data, 'spool-kept', 30).spool.close()
  const used = [join(data, 'spool-kept'), join(data, 'spool-new')]
  const found = await formerSpools({ usual: join(scratchDir(), 'spool'), used })
  const left = { openBytes: 0, isMore: false, isOwned: false }
  assert.deepEqual(
    [...found].sort((a, b) => a.records - b.records),
    [
      { dir: join(data, 'spool-siem'), records: 10, ...left },
      { dir: join(data, 'spool'), records: 20, ...left },
    ],
  )
  // If no spool is in use, the default one determines where to search.
  assert.equal((await formerSpools({ usual: join(data, 'spool'), used: [] })).length, 3)
})

test('living owners are distinguished from killed ones, and unsealed files count by size', async () => {
  const data = scratchDir()
  const { root, spool, owner } = leave(data, 'spool-siem', 10)
  spool.sealOpen()
  put(spool, 5)
  const locations = { usual: join(data, 'spool'), used: [] }
  assert.deepEqual(
    (await formerSpools(locations)).map(({ isOwned }) => isOwned),
    [true],
  )
  kill(root, owner)
  const [open] = readdirSync(join(root, owner)).filter((file) => file.endsWith('.open'))
  const openBytes = statSync(join(root, owner, open!)).size
  assert.deepEqual(await formerSpools(locations), [
    { dir: root, records: 10, openBytes, isMore: false, isOwned: false },
  ])
})

test('directories that do not look like spools are ignored', async () => {
  const data = scratchDir()
  const usual = join(data, 'spool')
  // Another name, next to a spool without records.
  leave(data, 'cups', 10).spool.close()
  mkdirSync(join(data, 'spool-empty', ownerName(1)), { recursive: true })
  // Unrelated directories and files, a link to a spool, a file.
  mkdirSync(join(data, 'spool-mail', 'cur'), { recursive: true })
  writeFileSync(join(data, 'spool-mail', 'cur', '000000000000000-10.seg'), 'x')
  mkdirSync(join(data, 'spool-news', ownerName(1)), { recursive: true })
  writeFileSync(join(data, 'spool-news', readdirSync(join(data, 'spool-news'))[0]!, 'article-10.seg'), 'x')
  symlinkSync(join(data, 'cups'), join(data, 'spool-link'))
  writeFileSync(join(data, 'spool-file'), 'x')
  assert.deepEqual(await formerSpools({ usual, used: [] }), [])
  assert.deepEqual(await formerSpools({ usual: join(data, 'nowhere', 'spool'), used: [] }), [])
})

test('a directory that may not be read hides no other', async (t) => {
  const data = scratchDir()
  const { root, spool } = leave(data, 'spool-b', 10)
  spool.close()
  // Root can read them anyway, and finds nothing.
  for (const dir of [join(data, 'spool-a'), join(root, ownerName(2))]) {
    mkdirSync(dir, { mode: 0 })
    t.after(() => chmodSync(dir, 0o700))
  }
  const found = await formerSpools({ usual: join(data, 'spool'), used: [] })
  assert.deepEqual(
    found.map(({ records }) => records),
    [10],
  )
})

test('a check stops at its limit and reports that', async () => {
  const data = scratchDir()
  const { root, spool, owner } = leave(data, 'spool-siem', 10)
  spool.close()
  for (let i = 1; i <= 600; i++)
    writeFileSync(join(root, owner, `${String(i * 8192).padStart(15, '0')}-1.seg`), '')
  const [found] = await formerSpools({ usual: join(data, 'spool'), used: [] }, 500)
  assert.ok(found!.isMore && found!.records > 400 && found!.records < 510, JSON.stringify(found))
})

test('each unused spool is reported once, with a remedy', async () => {
  const data = scratchDir()
  leave(data, 'spool-siem', 10).spool.close()
  const reported: string[] = []
  const watch = new FormerSpoolWatch()
  const look = (used: readonly string[]): void =>
    watch.look({ usual: join(data, 'spool'), used }, (message) => reported.push(message))
  look([])
  await until(() => reported.length === 1, 'it is reported')
  assert.equal(
    reported[0],
    `10 records wait in ${join(data, 'spool-siem')}, but no target of this log uses this spool; ` +
      'set it as the spool.dir of a target, or delete it',
  )
  // The second check replaces the first, and nothing is reported after closing.
  look([])
  look([join(data, 'spool-siem')])
  watch.close()
  look([])
  await formerSpools({ usual: join(data, 'spool'), used: [] })
  assert.equal(reported.length, 1)
})

test('a spool with a living owner is reported after the owner ends', async (t) => {
  const data = scratchDir()
  const { root, owner } = leave(data, 'spool-siem', 10)
  const locations = { usual: join(data, 'spool'), used: [] }
  const reported: string[] = []
  const watch = new FormerSpoolWatch(10)
  t.after(() => watch.close())
  watch.look(locations, (message) => reported.push(message))
  await formerSpools(locations)
  assert.deepEqual(reported, [])
  kill(root, owner)
  await until(() => reported.length === 1, 'it is reported')
  assert.match(reported[0]!, /^\d+ bytes of records wait in .*spool-siem,/)
})
