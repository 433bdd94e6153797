// Names and codes that countries go by: ISO 3166 codes, and the names that Intl knows in the languages below.
import { nameKey } from '../../src/places/place-names.ts';

/** Two-letter and three-letter codes, one country after the other. */
const CODES =
  'ADAND AEARE AFAFG AGATG AIAIA ALALB AMARM AOAGO AQATA ARARG ASASM ATAUT AUAUS AWABW AXALA AZAZE BABIH BBBRB BDBGD BEBEL BFBFA BGBGR BHBHR BIBDI BJBEN BLBLM BMBMU BNBRN BOBOL BQBES BRBRA BSBHS BTBTN BVBVT BWBWA BYBLR BZBLZ CACAN CCCCK CDCOD CFCAF CGCOG CHCHE CICIV CKCOK CLCHL CMCMR CNCHN COCOL CRCRI CUCUB CVCPV CWCUW CXCXR CYCYP CZCZE DEDEU DJDJI DKDNK DMDMA DODOM DZDZA ECECU EEEST EGEGY EHESH ERERI ESESP ETETH FIFIN FJFJI FKFLK FMFSM FOFRO FRFRA GAGAB GBGBR GDGRD GEGEO GFGUF GGGGY GHGHA GIGIB GLGRL GMGMB GNGIN GPGLP GQGNQ GRGRC GSSGS GTGTM GUGUM GWGNB GYGUY HKHKG HMHMD HNHND HRHRV HTHTI HUHUN IDIDN IEIRL ILISR IMIMN ININD IOIOT IQIRQ IRIRN ISISL ITITA JEJEY JMJAM JOJOR JPJPN KEKEN KGKGZ KHKHM KIKIR KMCOM KNKNA KPPRK KRKOR KWKWT KYCYM KZKAZ LALAO LBLBN LCLCA LILIE LKLKA LRLBR LSLSO LTLTU LULUX LVLVA LYLBY MAMAR MCMCO MDMDA MEMNE MFMAF MGMDG MHMHL MKMKD MLMLI MMMMR MNMNG MOMAC MPMNP MQMTQ MRMRT MSMSR MTMLT MUMUS MVMDV MWMWI MXMEX MYMYS MZMOZ NANAM NCNCL NENER NFNFK NGNGA NINIC NLNLD NONOR NPNPL NRNRU NUNIU NZNZL OMOMN PAPAN PEPER PFPYF PGPNG PHPHL PKPAK PLPOL PMSPM PNPCN PRPRI PSPSE PTPRT PWPLW PYPRY QAQAT REREU ROROU RSSRB RURUS RWRWA SASAU SBSLB SCSYC SDSDN SESWE SGSGP SHSHN SISVN SJSJM SKSVK SLSLE SMSMR SNSEN SOSOM SRSUR SSSSD STSTP SVSLV SXSXM SYSYR SZSWZ TCTCA TDTCD TFATF TGTGO THTHA TJTJK TKTKL TLTLS TMTKM TNTUN TOTON TRTUR TTTTO TVTUV TWTWN TZTZA UAUKR UGUGA UMUMI USUSA UYURY UZUZB VAVAT VCVCT VEVEN VGVGB VIVIR VNVNM VUVUT WFWLF WSWSM XKXKX YEYEM YTMYT ZAZAF ZMZMB ZWZWE';

const LANGUAGES =
  'en de fr es it pt nl sv da nb fi is et lv lt pl cs sk hu ro hr sl sq tr az uz vi id ms tl sw af cy ga eu ca gl bg ru uk be sr mk kk ky mn el hy ka he ar fa ur hi mr ne bn gu pa ta te kn ml or si th lo my km am ti bo ko ja zh-Hans zh-Hant'.split(
    ' ',
  );

/** What people write besides. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  US: ['America', 'United States of America', 'The United States', 'U.S.', 'U.S.A.'],
  GB: ['UK', 'Great Britain', 'Britain', 'U.K.'],
  NL: ['Holland', 'The Netherlands'],
  AE: ['UAE', 'Emirates'],
  CZ: ['Czech Republic'],
  TR: ['Turkey'],
  MM: ['Burma'],
  CI: ['Ivory Coast'],
  MK: ['Macedonia'],
  SZ: ['Swaziland'],
  CV: ['Cape Verde'],
  TL: ['East Timor'],
  CD: ['DR Congo', 'Congo', 'Democratic Republic of the Congo', 'DRC'],
  CG: ['Congo', 'Republic of the Congo'],
  KR: ['Korea', 'Republic of Korea'],
  HK: ['Hong Kong'],
  MO: ['Macau', 'Macao'],
  PS: ['Palestine'],
  BA: ['Bosnia'],
  CN: ["People's Republic of China", 'PRC'],
};

/** Each country's keys. */
export function countryKeys(): ReadonlyMap<string, readonly string[]> {
  const names = LANGUAGES.map((language) => new Intl.DisplayNames([language], { type: 'region' }));
  return new Map(
    CODES.split(' ').map((codes) => {
      const code = codes.slice(0, 2);
      const all = [code, codes.slice(2), ...names.map((each) => each.of(code)!), ...(ALIASES[code] ?? [])];
      return [code, all.map(nameKey)];
    }),
  );
}
