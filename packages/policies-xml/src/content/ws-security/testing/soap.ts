import { NS } from '../names.js'

/** Returns a SOAP message without a Security header. */
export function soapMessage({
  version = '1.1',
  content = '<m:order xmlns:m="urn:shop"><m:item>widget</m:item><m:note>a &amp; b</m:note></m:order>',
  header = null as string | null,
}: {
  readonly version?: '1.1' | '1.2'
  readonly content?: string
  readonly header?: string | null
} = {}): string {
  const soap = version === '1.1' ? NS.soap11 : NS.soap12
  const head = header === null ? '' : `<s:Header>${header}</s:Header>`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<s:Envelope xmlns:s="${soap}">${head}<s:Body>${content}</s:Body></s:Envelope>`
}

/** Returns a message with a Body of about this size, with many elements. */
export function largeContent(bytes: number): string {
  const item =
    '<m:order><m:symbol>ACME</m:symbol><m:buyer id="4711">somebody</m:buyer><m:volume>100</m:volume></m:order>'
  return `<m:orders xmlns:m="urn:shop">${item.repeat(Math.max(1, Math.round(bytes / item.length)))}</m:orders>`
}
