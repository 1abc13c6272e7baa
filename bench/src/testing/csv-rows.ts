/** The cells of a CSV text, as RFC 4180 allows them. */
export function csvRows(text: string): string[][] {
  const rows = [...text.matchAll(/((?:"(?:[^"]|"")*"|[^",\r\n]*)(?:,(?:"(?:[^"]|"")*"|[^",\r\n]*))*)\r\n/g)]
  return rows.map(([, line]) =>
    [...line!.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
      ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare!,
    ),
  )
}
