import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

test('every link between the pages of this repository leads to a file and a heading', () => {
  const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((page) => page !== '' && page !== 'packages/config/manual/introduction.md') // a part of docs/reference/configuration.md
  assert.deepEqual(pages.flatMap(brokenLinks), [])
})

function brokenLinks(page) {
  const links = withoutCode(page).matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g)
  return [...links].flatMap(([link, path, anchor]) => {
    if (/^[a-z]+:/.test(path)) return []
    const target = path === '' ? page : normalize(join(dirname(page), path))
    if (!existsSync(join(root, target))) return [`${page}: ${link}: no such file`]
    if (anchor === undefined || !target.endsWith('.md')) return []
    return headingAnchors(target).includes(anchor) ? [] : [`${page}: ${link}: no such heading`]
  })
}

/** Returns the anchors of a page's headings, in the form that GitHub and GitLab generate. */
function headingAnchors(page) {
  const headings = withoutCode(page).matchAll(/^#+ +(.+)$/gm)
  return [...headings].map(([, text]) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function withoutCode(page) {
  return readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```/gm, '')
}
