/** The languages and time zones to choose from. */

const common = (
  'ar-EG ar-SA bg-BG bn-BD ca-ES cs-CZ da-DK de-AT de-CH de-DE el-GR en-AU en-CA en-GB en-IE en-IN en-NZ en-US ' +
  'en-ZA es-AR es-ES es-MX et-EE fa-IR fi-FI fr-BE fr-CA fr-CH fr-FR he-IL hi-IN hr-HR hu-HU id-ID is-IS it-IT ' +
  'ja-JP ko-KR lt-LT lv-LV ms-MY nb-NO nl-BE nl-NL pl-PL pt-BR pt-PT ro-RO ru-RU sk-SK sl-SI sr-RS sv-SE th-TH ' +
  'tr-TR uk-UA vi-VN zh-CN zh-TW'
).split(' ')

type Choice = { readonly id: string; readonly name: string }

function nameOf(locale: string): string {
  try {
    const own = new Intl.DisplayNames([locale], { type: 'language' }).of(locale)
    return own ? `${own} · ${locale}` : locale
  } catch {
    return locale
  }
}

/** The languages, each by its own name, including `chosen`. */
export function localesWith(chosen: string | null): Choice[] {
  const all = chosen && !common.includes(chosen) ? [...common, chosen] : common
  return all.map(id => ({ id, name: nameOf(id) })).sort((a, b) => a.name.localeCompare(b.name))
}

/** The browser's time zones of the IANA list, including `chosen`. */
export function timeZonesWith(chosen: string | null): Choice[] {
  const known = new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), ...(chosen ? [chosen] : [])])
  return [...known].map(id => ({ id, name: id.replaceAll('_', ' ') }))
}
