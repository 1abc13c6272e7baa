/**
 * Cuts the notes of a release out of CHANGELOG.md, and names the section "Unreleased" after the release if it has no
 * section yet.
 * @param date day of the release, such as 2026-12-01
 * @throws Error if the changelog has no entries for the release
 */
export function changelogOf(text, version, date) {
  const own = new RegExp(`^## \\[?${version.replaceAll('.', '\\.')}\\]?(?=$|\\s)`, 'm')
  const hasOwn = own.test(text)
  const released = hasOwn ? text : text.replace(/^## Unreleased$/m, `## ${version} (${date})`)
  const start = own.exec(released)?.index
  const notes = start === undefined ? '' : sectionAt(released, start)
  if (!/^[*-] /m.test(notes))
    throw new Error(`CHANGELOG.md has no entries under "${version}" or "Unreleased"; add them`)
  return { changelog: released, notes }
}

function sectionAt(text, start) {
  const next = text.indexOf('\n## ', start)
  return `${text.slice(start, next === -1 ? undefined : next).trim()}\n`
}
