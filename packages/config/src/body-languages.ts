import type { BodyLanguage, Catalog } from '@sluice/core'

/**
 * Loads what the conditions in a text (a document, a plan) ask bodies with. Before that their paths are not checked and
 * cannot be compiled.
 */
export async function loadBodyLanguages(text: string, { bodies }: Catalog): Promise<void> {
  if (bodies === undefined) return
  const languages = Object.entries(bodies) as [string, BodyLanguage][]
  await Promise.all(
    languages.map(([kind, language]) => (text.includes(`req.body.${kind}`) ? language.load() : undefined)),
  )
}
