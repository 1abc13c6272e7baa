import type { BodyLanguage, Catalog } from '@sluice/core'

/**
 * Loads the query languages that the conditions in a text (a document or a plan) use on bodies. Until then,
 * their paths cannot be checked or compiled.
 */
export async function loadBodyLanguages(text: string, { bodies }: Catalog): Promise<void> {
  if (bodies === undefined) return
  const languages = Object.entries(bodies) as [string, BodyLanguage][]
  await Promise.all(
    languages.map(([kind, language]) => (text.includes(`req.body.${kind}`) ? language.load() : undefined)),
  )
}
