import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const TEST = '.test.js'
/** Packages whose tests mostly compute. Tests of other packages wait for processes. */
const COMPUTING = ['config', 'core', 'policies', 'policies-xml']

/** Returns the test files below the given folders, or all test files. */
export function testFiles(folders) {
  const packages = readdirSync('packages')
  const waiting = packages.filter((name) => !COMPUTING.includes(name))
  // The longest files start first. Computing files use the cores while these wait.
  const all = mixed(
    [...compiledTests('bench'), ...toolTests(), ...compiledPackageTests(waiting)],
    compiledPackageTests(COMPUTING),
  )
  if (folders.length === 0) return all
  return all.filter((file) => folders.some((folder) => isWithin(file, folder)))
}

/** Merges two lists, spreading each evenly over the result. */
function mixed(some, others) {
  const placed = [some, others].flatMap((list) =>
    list.map((file, i) => ({ file, place: (i + 0.5) / list.length })),
  )
  return placed.sort((a, b) => a.place - b.place).map(({ file }) => file)
}

function toolTests() {
  return filesBelow('tools').filter((file) => file.endsWith('.test.mjs') && !file.includes('node_modules'))
}

function compiledPackageTests(names) {
  return names.flatMap((name) => compiledTests(join('packages', name)))
}
function compiledTests(folder) {
  return filesBelow(join(folder, 'dist')).filter((file) => file.endsWith(TEST) && existsSync(sourceOf(file)))
}

/** Returns the source of a compiled test. The compiler keeps the output of deleted sources, which must not run. */
function sourceOf(file) {
  return file.replace(/(^|\/)dist\//, '$1src/').replace(/\.js$/, '.ts')
}

function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** True if the file is in the folder, which may be a source, output or package folder. */
function isWithin(file, folder) {
  const wanted = folder.replace(/\/+$/, '')
  return [file, sourceOf(file)].some((path) => path === wanted || path.startsWith(`${wanted}/`))
}
