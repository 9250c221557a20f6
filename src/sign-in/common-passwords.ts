/** Passwords that are guessed first, as data: only those of twelve characters or more matter (D61). */

/**
 * Words that most of the common passwords are made of. One or two of them, with digits and signs around and
 * between them, are a common password: `Password2026!`, `welcome_welcome`, `iloveyou12345`.
 */
export const commonWords: readonly string[] = `
  aaaaaa abc abcd abcdef abcdefg abcdefgh abc123 access account admin administrator adobe alexander alexandra
  amanda america andrea andrew angel angels anthony apple asdf asdfgh asdfghjk asdfghjkl ashley august austin
  autumn azerty baby babygirl bailey banana barcelona baseball basketball batman beautiful beckham bitch blink
  blue bonjour brandon buster butterfly business casper change changeme charlie cheese chelsea chicken chocolate
  christian christmas christopher cocacola company computer contact cookie cool cowboys crystal customer daniel
  danielle dealwright december default diamond dolphin donald dragon eagles elephant elizabeth england fashion
  february ferrari flower football forever frankie freedom friday friend friends fuckyou gabriel garfield george
  gfhjkm ginger golden google guest hallo hannah harley heaven hello hellokitty hiphop hockey hottie hunter
  iloveme iloveu iloveyou iloveyouso instagram internet isabella jackson january jasmine jennifer jessica jesus
  jesuschrist jonathan jordan joseph joshua july june justin killer king kitty kristina lakers letmein
  letmeinnow linkedin liverpool login london lovely loveme lovelove lover loveyou madison maggie manager
  manchester marina marketing martin master matrix matthew melissa mercedes metallica michael michelle mickey
  microsoft minecraft monday money monkey monster mother motorola mustang myspace mynoob naruto natalie nathan
  new newpassword nicholas nicole nothing november october office oliver orange owner pass passw passwd password
  passwort patrick peanut pepper phoenix pikachu playboy player please pokemon precious prince princess private
  public purple qazwsx qazwsxedc qwer qwert qwerty qwertyu qwertyui qwertyuiop qwertz rachel rainbow ranger rebecca
  richard robert rockstar rockyou root runescape sales samantha samsung samuel sarah saturday scooby secret
  security september server service shadow shopping silver skywalker slipknot snickers soccer sophie spiderman
  spring starwars stephanie steven strawberry student summer sunday sunflower sunshine super superman
  superstar support sweet sweetheart system taylor teacher temp temporary test tester testing theman thomas
  thursday tigger toor training trustno trustnoone tuesday tweety twilight twitter unicorn user username vanessa
  victoria vfhbyf viewsonic wednesday welcome welcomeback whatever wildcats william windows winner winter wizard
  wordpass yellow youtube zxcvbn zxcvbnm
`
  .trim()
  .split(/\s+/)

/** Common passwords that are made in other ways: along the keys, or of a phrase. Folded, without blanks. */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
  !qaz2wsx3edc !qazxsw2#edc 0123456789ab 00000000000a 098765432100 0987654321q 0okm9ijn8uhb 1029384756qp
  10293847560a 1111111111aa 111222333444 112233445566 1122334455667788 11223344556677 121212121212 1234554321aa
  123321123321 12344321asdf 123456123456 123456654321 1234567890a 1234567890aa 1234567890ab 1234567890abc
  1234567890as 1234567890asd 1234567890q 1234567890qw 1234567890qwe 1234567890qwer 1234567890qwerty
  1234567890z 123456789abc 123456789asd 123456789qwe 123456789zxc 12345678910 1234567891011 12345678abcd
  12345678qwer 1234567qwerty 1234567asdfg 123456abcdef 123456asdfgh 123456qwerty 123456qwertyu 123456zxcvbn
  123456789012 123456789123 123456789987654321 12345qwert12345 12345qwertasdfg 12345qwertasdfgzxcvb
  1234abcd1234 1234abcd5678 1234asdf1234 1234qwer1234 1234qwerasdf 1234qwerasdfzxcv 123123123123
  123123123qwe 123abc123abc 123asd123asd 123qwe123qwe 123qwe456rty 123qweasdzxc 123qwe!@#qwe 135792468000
  147258369000 147258369147 1472583690147 147852369147 159357159357 159753159753 159753456852 159951159951
  1a2b3c4d5e6f 1a2s3d4f5g6h 1a2b3c4d5e6f7g 1a2s3d4f5g6h7j 1g2w3e4r5t6y 1q1q1q1q1q1q 1q2w1q2w1q2w 1q2w3e1q2w3e
  1q2w3e4r1q2w3e4r 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1q2w3e4r5t6y7u8i9o 1q2w3e4r5t6y7u8i9o0p
  1qa2ws3ed4rf 1qa2ws3ed4rf5tg 1qaz1qaz1qaz 1qaz2wsx1qaz2wsx 1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qaz2wsx3edc4rfv5tgb
  1qaz!qaz1qaz 1qaz@wsx3edc 1qaz@wsx#edc 1qazxsw23edc 1qazxsw23edcvfr4 1qazzaq12wsx 1z2x3c4v5b6n 246810121416
  258456258456 3edc4rfv5tgb 4815162342lost 741852963000 741852963741 7418529630741 753951753951 789456123000
  789456123789 7894561230789 987654321000 987654321098 9876543210 987654321987 a1a1a1a1a1a1 a1b2c3d4e5f6
  a1b2c3d4e5f6g7 a1s2d3f4g5h6 a12345678910 a1234567890 a1b1c1d1e1f1 aa123456789 aa1234567890 ab1234567890
  abc123456789 abc1234567890 abc123abc123 abcd12345678 abcd1234abcd abcd1234abcd1234 abcd1234efgh allyouneedislove
  asd123asd123 asdasdasdasd asdfasdfasdf asdfgh123456 asdfghjkl123 asdfghjkl;' asdfghjkl;'\\ asdfqwerzxcv
  asdqwe123zxc asdzxc123456 azertyuiop12 azertyuiop123 azertyuiopqsdfghjklm bismillahirrahmanirrahim
  correcthorsebatterystaple deeznutsdeez emailaddress fuckyoubitch fuckyouasshole fuckyouall12 getmeoutofhere
  godisgoodallthetime godisloveall hakunamatata hakunamatata1 harrypotter1 harrypotter12 helloworld12
  howareyoudoing ihateyousomuch ilovemyself1 ilovejesus12 ilovegod1234 ilovemydog12 ilovemymom12 ilovemywife1
  iloveyouforever iloveyoubaby iloveyousomuch imissyousomuch inshaallah12 jesusislord1 jesusismylord
  jesuslovesme jesusloves12 justinbieber justinbieber1 kakashihatake lasvegas2020 leavemealone liverpoolfc1
  loveyouforever manchesterunited mastercard12 michaeljackson moneymoney12 motherfucker motherfucker1
  mynameisnobody naruto123456 narutouzumaki nevergiveup1 nopassword12 nopasswordhere notapassword onedirection
  onedirection1 opensesame12 p455w0rd1234 pass@word123 passphrase12 pingpong1234 playstation1 playstation2
  playstation3 playstation4 poiuytrewq12 poiuytrewq123 pokemon12345 q1w2e3r4t5y6 q1w2e3r4t5y6u7
  q1w2e3r4t5y6u7i8 q1w2e3r4t5y6u7i8o9p0 q1q1q1q1q1q1 q12we34rt56y qazwsx123456 qazwsxedc123 qazwsxedcrfv
  qazwsxedcrfvtgb qazxswedcvfr qazqazqazqaz qqww1122qqww qqqwwweeerrr qwaszx123456 qwaszxqwaszx qwe123qwe123
  qwe123asd123 qwe123asdzxc qwe123!@#qwe qweasd123456 qweasdqweasd qweasdzxc123 qweasdzxcqwe qweasdzxcqweasdzxc
  qwer1234asdf qwer1234asdf5678 qwer1234qwer qwer1234qwer1234 qwer1234tyui qwerasdfzxcv qwerasdfzxcv1234
  qwertasdfgzxcvb qwerty123456 qwerty1234567 qwerty12345678 qwerty123456789 qwertyasdfgh qwertyasdfzxcv
  qwertyuiop10 qwertyuiop12 qwertyuiop123 qwertyuiop1234 qwertyuiop[] qwertyuiop[]\\ qwertyuiopasdfghjkl
  qwertyuiopasdfghjklzxcvbnm qwertyuiopasd qwertzuiopü qwertzuiopü+ qweqweqweqwe qwqwqwqwqwqw rammstein123
  realmadrid12 redskins1234 rockyou12345 rfv4tgb5yhn6 sexysexysexy sharepoint12 stayhungrystayfoolish
  thisisapassword thisismypassword thisisnotapassword thequickbrownfox thequickbrownfoxjumps thereisnospoon
  tinkerbell12 tobeornottobe tobeornottobethatisthequestion todayisagoodday trustnobody1 undertaker12
  volkswagen12 whatthefuck1 whatthehell1 whoareyou123 wordpress123 wwwwwwwwwwww xbox360xbox360 yankees12345
  youaremysunshine zaq!2wsx3edc zaq12wsxcde3 zaq12wsxcde34rfv zaq1xsw2cde3 zaq1xsw2cde3vfr4 zaq1zaq1zaq1
  zaqwsxcderfv zaqxswcdevfr zxc123zxc123 zxcasdqwe123 zxcasdqwe123 zxcvbnm,./ zxcvbnm,./asd zxcvbnm12345
  zxcvbnm123456 zxcvbnmasdfghjkl zxcvbnmasdfghjklqwertyuiop zxczxczxczxc zxcvasdfqwer zxcvzxcvzxcv
`
    .trim()
    .split(/\s+/),
)
