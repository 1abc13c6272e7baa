/** Unicode blocks for `\p{Is…}` as libxml2 defines them. Surrogates are not characters. */
const BLOCKS = `
  BasicLatin:0-7f Latin-1Supplement:80-ff LatinExtended-A:100-17f LatinExtended-B:180-24f
  IPAExtensions:250-2af SpacingModifierLetters:2b0-2ff CombiningDiacriticalMarks:300-36f Greek:370-3ff
  GreekandCoptic:370-3ff Cyrillic:400-4ff CyrillicSupplement:500-52f Armenian:530-58f Hebrew:590-5ff
  Arabic:600-6ff Syriac:700-74f Thaana:780-7bf Devanagari:900-97f Bengali:980-9ff Gurmukhi:a00-a7f
  Gujarati:a80-aff Oriya:b00-b7f Tamil:b80-bff Telugu:c00-c7f Kannada:c80-cff Malayalam:d00-d7f
  Sinhala:d80-dff Thai:e00-e7f Lao:e80-eff Tibetan:f00-fff Myanmar:1000-109f Georgian:10a0-10ff
  HangulJamo:1100-11ff Ethiopic:1200-137f Cherokee:13a0-13ff UnifiedCanadianAboriginalSyllabics:1400-167f
  Ogham:1680-169f Runic:16a0-16ff Tagalog:1700-171f Hanunoo:1720-173f Buhid:1740-175f Tagbanwa:1760-177f
  Khmer:1780-17ff Mongolian:1800-18af Limbu:1900-194f TaiLe:1950-197f KhmerSymbols:19e0-19ff
  PhoneticExtensions:1d00-1d7f LatinExtendedAdditional:1e00-1eff GreekExtended:1f00-1fff
  GeneralPunctuation:2000-206f SuperscriptsandSubscripts:2070-209f CurrencySymbols:20a0-20cf
  CombiningMarksforSymbols:20d0-20ff CombiningDiacriticalMarksforSymbols:20d0-20ff LetterlikeSymbols:2100-214f
  NumberForms:2150-218f Arrows:2190-21ff MathematicalOperators:2200-22ff MiscellaneousTechnical:2300-23ff
  ControlPictures:2400-243f OpticalCharacterRecognition:2440-245f EnclosedAlphanumerics:2460-24ff
  BoxDrawing:2500-257f BlockElements:2580-259f GeometricShapes:25a0-25ff MiscellaneousSymbols:2600-26ff
  Dingbats:2700-27bf MiscellaneousMathematicalSymbols-A:27c0-27ef SupplementalArrows-A:27f0-27ff
  BraillePatterns:2800-28ff SupplementalArrows-B:2900-297f MiscellaneousMathematicalSymbols-B:2980-29ff
  SupplementalMathematicalOperators:2a00-2aff MiscellaneousSymbolsandArrows:2b00-2bff
  CJKRadicalsSupplement:2e80-2eff KangxiRadicals:2f00-2fdf IdeographicDescriptionCharacters:2ff0-2fff
  CJKSymbolsandPunctuation:3000-303f Hiragana:3040-309f Katakana:30a0-30ff Bopomofo:3100-312f
  HangulCompatibilityJamo:3130-318f Kanbun:3190-319f BopomofoExtended:31a0-31bf
  KatakanaPhoneticExtensions:31f0-31ff EnclosedCJKLettersandMonths:3200-32ff CJKCompatibility:3300-33ff
  CJKUnifiedIdeographsExtensionA:3400-4dbf YijingHexagramSymbols:4dc0-4dff CJKUnifiedIdeographs:4e00-9fff
  YiSyllables:a000-a48f YiRadicals:a490-a4cf HangulSyllables:ac00-d7af HighSurrogates:
  HighPrivateUseSurrogates: LowSurrogates: PrivateUseArea:e000-f8ff CJKCompatibilityIdeographs:f900-faff
  AlphabeticPresentationForms:fb00-fb4f ArabicPresentationForms-A:fb50-fdff VariationSelectors:fe00-fe0f
  CombiningHalfMarks:fe20-fe2f CJKCompatibilityForms:fe30-fe4f SmallFormVariants:fe50-fe6f
  ArabicPresentationForms-B:fe70-feff HalfwidthandFullwidthForms:ff00-ffef Specials:fff0-ffff
  LinearBSyllabary:10000-1007f LinearBIdeograms:10080-100ff AegeanNumbers:10100-1013f OldItalic:10300-1032f
  Gothic:10330-1034f Ugaritic:10380-1039f Deseret:10400-1044f Shavian:10450-1047f Osmanya:10480-104af
  CypriotSyllabary:10800-1083f ByzantineMusicalSymbols:1d000-1d0ff MusicalSymbols:1d100-1d1ff
  TaiXuanJingSymbols:1d300-1d35f MathematicalAlphanumericSymbols:1d400-1d7ff
  CJKUnifiedIdeographsExtensionB:20000-2a6df CJKCompatibilityIdeographsSupplement:2f800-2fa1f Tags:e0000-e007f
  VariationSelectorsSupplement:e0100-e01ef SupplementaryPrivateUseArea-A:f0000-fffff
  SupplementaryPrivateUseArea-B:100000-10ffff
  PrivateUse:e000-f8ff,f0000-fffff,100000-10ffff
`

const known = new Map(
  BLOCKS.trim()
    .split(/\s+/)
    .map((word) => {
      const [name, ranges] = word.split(':') as [string, string]
      return [name, ranges === '' ? [] : ranges.split(',').map(rangeOf)] as const
    }),
)

/** Names of all blocks. */
export const BLOCK_NAMES: readonly string[] = [...known.keys()]

/** Returns the ranges of a block, or undefined for an unknown name. */
export function blockRanges(name: string): readonly (readonly [from: number, to: number])[] | undefined {
  return known.get(name)
}

function rangeOf(text: string): readonly [from: number, to: number] {
  const [from, to] = text.split('-').map((digits) => Number.parseInt(digits, 16))
  return [from!, to!]
}
