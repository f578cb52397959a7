-- needs: lattice/trace.sql, positions/place.sql
-- Line of sight in css (Guam): 6.2.1, 6.2.2, 6.3, 7.1, 8.7.2, 8.7.3, 8.8.1, 17.0, 22.3.1.
--
-- `css._line` judges what every line from one hex to several others meets, a row a cell.
-- `css.fan` keeps the targets that no cell stops; `css.los` tells the cells of one line in
-- words, a row for every rule that speaks. There is one judgement, so the two cannot
-- disagree.
--
-- Ties. Along a side both hexes are met: terrain, height and markers stop the line only
-- where both sides would (7.1.1 b); a blocking hexside that the line runs along always
-- does (7.1.2 d). Along the rim the one hex that is on the map decides. A hex met in a
-- corner point is not passed, and a hexside met at its end is crossed only if the line
-- goes from one of its hexes into the other there (6.2.2: a feature fills its whole
-- side); css-62 reads it otherwise. Such a line says so in a `graze` row.

create or replace function css._readings(policy jsonb)
returns table (
  out_of_barrage text, paddy text, ground text, downhill text, cane text, corner text
)
language sql stable parallel safe rows 1
as $$
  select
    coalesce(policy ->> 'css-11', max(point.preset) filter (where point.id = 'css-11')),
    coalesce(policy ->> 'css-12', max(point.preset) filter (where point.id = 'css-12')),
    coalesce(policy ->> 'css-43', max(point.preset) filter (where point.id = 'css-43')),
    coalesce(policy ->> 'css-44', max(point.preset) filter (where point.id = 'css-44')),
    coalesce(policy ->> 'css-54', max(point.preset) filter (where point.id = 'css-54')),
    coalesce(policy ->> 'css-62', max(point.preset) filter (where point.id = 'css-62'))
  from public.contested_point as point
  where point.id = any(array['css-11', 'css-12', 'css-43', 'css-44', 'css-54', 'css-62'])
$$;

comment on function css._readings(jsonb) is
'The readings in force for the contested points that sight turns on.';

create or replace function css._visibility(conditions jsonb, lit boolean)
returns integer
language sql immutable parallel safe
return case
  when conditions ->> 'time' = 'night' and not coalesce(lit, false) then 1
  when conditions ->> 'weather' = 'rain' then 3
  else 8
end;

comment on function css._visibility(jsonb, boolean) is
'How far is seen (7.1.2, 17.0); an illuminated hex is seen as by day (8.7.3).';

-- 6.2.2: from the upper side of a steep slope of its own hex, through that side
create or replace function css._looks_downhill(
  board bigint, aq integer, ar integer, tq integer, tr integer
)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select
    from lattice.trace
    inner join public.hexside
      on hexside.map_id = board
        and hexside.x = 2 * aq + trace.x
        and hexside.y = 2 * ar + trace.y
        and hexside.kind = 'steep_slope'
    inner join public.hex as one on one.map_id = board and one.q = aq + trace.q1 and one.r = ar + trace.r1
    inner join public.hex as two on two.map_id = board and two.q = aq + trace.q2 and two.r = ar + trace.r2
    where trace.dq = tq - aq
      and trace.dr = tr - ar
      and trace.crossed
      and (
        (one.level > two.level and (one.q, one.r) in ((aq, ar), (tq, tr)))
        or (two.level > one.level and (two.q, two.r) in ((aq, ar), (tq, tr)))
      )
  );
end
$$;

comment on function css._looks_downhill(bigint, integer, integer, integer, integer) is
'Whether one end of a line stands above a steep slope of its own hex that the line crosses.';

create or replace function css._marked(position_id bigint)
returns table (q integer, r integer, barrage boolean, bombardment boolean, on_fire boolean, fire_cleared boolean)
language sql stable parallel safe rows 4
as $$
  select
    marker.q,
    marker.r,
    bool_or(marker.kind = any(
      array['smoke_barrage', 'light_barrage', 'medium_barrage', 'heavy_barrage', 'bombardment']
    )),
    bool_or(marker.kind = 'bombardment'),
    bool_or(marker.kind = 'on_fire'),
    bool_or(marker.kind = 'fire_cleared')
  from public.marker
  where marker.position_id = _marked.position_id
    and marker.kind = any(array[
      'smoke_barrage', 'light_barrage', 'medium_barrage', 'heavy_barrage', 'bombardment', 'on_fire', 'fire_cleared'
    ])
  group by marker.q, marker.r
$$;

comment on function css._marked(bigint) is
'Hexes whose markers bear on sight: barrages and bombardments, fires, burnt ground.';

create or replace function css._line(
  board bigint,
  position_id bigint,
  aq integer,
  ar integer,
  alevel integer,
  a_in_cave boolean,
  tqs integer[],
  trs integer[],
  t_in_cave boolean,
  paddy text,
  ground text,
  downhill text,
  cane text,
  corner text,
  steep boolean
)
returns table (
  tq integer,
  tr integer,
  away integer,
  same boolean,
  lit boolean,
  n integer,
  kind text,
  crossed boolean,
  label1 text,
  label2 text,
  terrain1 text,
  terrain2 text,
  -- the hexes met: does each stop the line, by which rules, or thin it (7.1.1 c)
  barrage1 boolean,
  barrage2 boolean,
  towers1 boolean,
  towers2 boolean,
  rises1 boolean,
  rises2 boolean,
  hides1 boolean,
  hides2 boolean,
  stands1 boolean,
  stands2 boolean,
  screens1 boolean,
  screens2 boolean,
  burns1 boolean,
  burns2 boolean,
  below1 boolean,
  below2 boolean,
  excused1 boolean,
  excused2 boolean,
  between1 boolean,
  between2 boolean,
  stops1 boolean,
  stops2 boolean,
  thins1 boolean,
  thins2 boolean,
  stops boolean,
  thins boolean,
  unprinted boolean,
  paddies boolean,
  -- the blocking hexside met: does it stop the line, and by which rule
  feature text,
  feature_stops boolean,
  feature_rule text,
  feature_clause text
)
language sql stable parallel safe rows 300
as $$
  select
    target.q,
    target.r,
    line.away,
    line.same,
    lamp.q is not null,
    trace.n::integer,
    trace.kind,
    trace.crossed,
    h1.label,
    h2.label,
    h1.terrain,
    h2.terrain,
    met.barrage1,
    met.barrage2,
    met.towers1,
    met.towers2,
    met.rises1,
    met.rises2,
    met.hides1,
    met.hides2,
    met.stands1,
    met.stands2,
    met.screens1,
    met.screens2,
    m1.on_fire,
    m2.on_fire,
    h1.level < line.high and sight.s1 in ('blocks', 'blocks_at_second'),
    h2.level < line.high and sight.s2 in ('blocks', 'blocks_at_second'),
    sight.excused1 and h1.level = line.high,
    sight.excused2 and h2.level = line.high,
    h1.level > line.low and h1.level < line.high and not met.hides1,
    h2.level > line.low and h2.level < line.high and not met.hides2,
    verdict.stops1,
    verdict.stops2,
    met.thins1,
    met.thins2,
    coalesce(verdict.stops1, verdict.stops2, trace.kind = 'hex')
    and coalesce(verdict.stops2, verdict.stops1, true),
    coalesce(verdict.stops1 or met.thins1, verdict.stops2 or met.thins2, false)
    and coalesce(verdict.stops2 or met.thins2, verdict.stops1 or met.thins1, false)
    and not (coalesce(verdict.stops1, verdict.stops2) and coalesce(verdict.stops2, verdict.stops1)),
    coalesce(sight.s1 = 'unknown' and line.same and h1.level = line.high and not sight.excused1, false)
    or coalesce(sight.s2 = 'unknown' and line.same and h2.level = line.high and not sight.excused2, false),
    line.same and (
      coalesce(h1.terrain = 'rice_paddy' and h1.level = line.high, false)
      or coalesce(h2.terrain = 'rice_paddy' and h2.level = line.high, false)
    ),
    hexside.kind,
    case
      when hexside.kind is null then false
      when trace.kind = 'spine' then true
      when beside.in_cave and hexside.kind <> 'cliff' then true
      when beside.an_end then false
      else not beside.overlooked
    end,
    case
      when trace.kind = 'spine' then '7.1.2'
      when beside.in_cave and hexside.kind <> 'cliff' then '6.3'
      when line.same or beside.overlooked then '6.2.2'
      else '7.1.2'
    end,
    case
      when trace.kind = 'spine' then 'd'
      when beside.in_cave and hexside.kind <> 'cliff' then null
      when line.same or beside.overlooked then null
      else 'c'
    end
  from unnest(tqs, trs) as target (q, r)
  inner join public.hex as thex on thex.map_id = board and thex.q = target.q and thex.r = target.r
  left join public.marker as lamp
    on lamp.position_id = _line.position_id
      and lamp.q = target.q
      and lamp.r = target.r
      and lamp.kind = 'illumination'
  cross join lateral (
    select
      lattice.distance(aq, ar, target.q, target.r) as away,
      thex.level = alevel as same,
      greatest(thex.level::integer, alevel) as high,
      least(thex.level::integer, alevel) as low,
      case when thex.level < alevel then target.q else aq end as low_q,
      case when thex.level < alevel then target.r else ar end as low_r
  ) as line
  inner join lattice.trace
    on trace.dq = target.q - aq
      and trace.dr = target.r - ar
      and (trace.kind <> 'end' or trace.crossed or corner = 'b')
  left join public.hex as h1
    on h1.map_id = board
      and h1.q = aq + trace.q1
      and h1.r = ar + trace.r1
      and (trace.kind = any(array['hex', 'spine']) or (trace.kind = 'touch' and corner = 'b'))
  left join public.terrain as k1 on k1.ruleset = 'css' and k1.code = h1.terrain
  left join public.hex as h2
    on h2.map_id = board
      and h2.q = aq + trace.q2
      and h2.r = ar + trace.r2
      and trace.kind = 'spine'
  left join public.terrain as k2 on k2.ruleset = 'css' and k2.code = h2.terrain
  left join css._marked(_line.position_id) as m1 on m1.q = h1.q and m1.r = h1.r
  left join css._marked(_line.position_id) as m2 on m2.q = h2.q and m2.r = h2.r
  left join public.hexside
    on hexside.map_id = board
      and hexside.x = 2 * aq + trace.x
      and hexside.y = 2 * ar + trace.y
      and hexside.kind = any(array['slope', 'steep_slope', 'ridge', 'cliff'])
      and trace.kind = any(array['side', 'spine', 'end'])
  cross join lateral (
    select
      (trace.q1 = 0 and trace.r1 = 0) or (trace.q2 = 0 and trace.r2 = 0)
      or (trace.q1 = trace.dq and trace.r1 = trace.dr) or (trace.q2 = trace.dq and trace.r2 = trace.dr)
      as an_end,
      (a_in_cave and ((trace.q1 = 0 and trace.r1 = 0) or (trace.q2 = 0 and trace.r2 = 0)))
      or (
        t_in_cave
        and ((trace.q1 = trace.dq and trace.r1 = trace.dr) or (trace.q2 = trace.dq and trace.r2 = trace.dr))
      ) as in_cave,
      case
        when steep and downhill <> 'b' and hexside.kind = 'cliff'
          then css._looks_downhill(board, aq, ar, target.q, target.r)
        else false
      end as overlooked
  ) as beside
  cross join lateral (
    select
      case
        when m1.on_fire then 'blocks'
        when m1.fire_cleared then 'open'
        when h1.terrain = 'rice_paddy' and paddy = 'a' then 'open'
        when h1.terrain = 'sugar_cane' and cane = 'b' then 'blocks_at_second'
        when h1.terrain is not null then coalesce(k1.sight, 'unknown')
      end as s1,
      case
        when m2.on_fire then 'blocks'
        when m2.fire_cleared then 'open'
        when h2.terrain = 'rice_paddy' and paddy = 'a' then 'open'
        when h2.terrain = 'sugar_cane' and cane = 'b' then 'blocks_at_second'
        when h2.terrain is not null then coalesce(k2.sight, 'unknown')
      end as s2,
      case
        when steep and downhill <> 'b' and m1.on_fire is not true
          and h1.terrain = any(array['brush', 'rocky', 'sugar_cane'])
          then css._looks_downhill(board, aq, ar, target.q, target.r)
        else false
      end as excused1,
      case
        when steep and downhill <> 'b' and m2.on_fire is not true
          and h2.terrain = any(array['brush', 'rocky', 'sugar_cane'])
          then css._looks_downhill(board, aq, ar, target.q, target.r)
        else false
      end as excused2
  ) as sight
  cross join lateral (
    select
      coalesce(m1.barrage, false) as barrage1,
      coalesce(m2.barrage, false) as barrage2,
      -- 7.1.2: higher than both ends
      h1.level > line.high as towers1,
      h2.level > line.high as towers2,
      -- 7.1.2 a: as high as the higher end
      h1.level = line.high and not line.same and not (sight.excused1 and downhill = 'c') as rises1,
      h2.level = line.high and not line.same and not (sight.excused2 and downhill = 'c') as rises2,
      -- 7.1.2 b: beside the lower end and higher than it
      h1.level > line.low
      and not line.same
      and lattice.distance(h1.q, h1.r, line.low_q, line.low_r) = 1 as hides1,
      h2.level > line.low
      and not line.same
      and lattice.distance(h2.q, h2.r, line.low_q, line.low_r) = 1 as hides2,
      -- the opening words of 7.1.2 taken literally (css-43)
      ground = 'a' and h1.level > line.low and h1.level < line.high as stands1,
      ground = 'a' and h2.level > line.low and h2.level < line.high as stands2,
      -- 7.1.1 a: blocking terrain at the level of the higher end; below it, 7.1.2 e
      sight.s1 = 'blocks' and h1.level = line.high and not sight.excused1 as screens1,
      sight.s2 = 'blocks' and h2.level = line.high and not sight.excused2 as screens2,
      sight.s1 = 'blocks_at_second' and line.same and h1.level = line.high and not sight.excused1 as thins1,
      sight.s2 = 'blocks_at_second' and line.same and h2.level = line.high and not sight.excused2 as thins2
  ) as met
  cross join lateral (
    select
      case
        when h1.level is not null
          then met.barrage1 or met.towers1 or met.rises1 or met.hides1 or met.stands1 or met.screens1
      end as stops1,
      case
        when h2.level is not null
          then met.barrage2 or met.towers2 or met.rises2 or met.hides2 or met.stands2 or met.screens2
      end as stops2
  ) as verdict
$$;

comment on function css._line(
  bigint, bigint, integer, integer, integer, boolean, integer[], integer[], boolean, text, text, text, text, text,
  boolean
) is
'What the lines from one hex to several others meet, judged: a row for every hex, spine and hexside on the way.';

create or replace function css._sight_note(code text, effect text, place text, terrain text)
returns text
language sql immutable parallel safe
return case code
  when 'barrage' then format('%s lies under a barrage, which no line passes', place)
  when 'towers' then format('%s is higher than both ends', place)
  when 'screens' then format('%s is %s at the level of the higher end', place, replace(terrain, '_', ' '))
  when 'burns' then format('%s burns', place)
  when 'rises' then format('%s is as high as the higher end', place)
  when 'hides' then format('%s is higher than the lower end beside it: a blind spot', place)
  when 'stands' then format('%s is higher than the lower end', place)
  when 'not_standing' then format('%s rises above the lower end, but not beside it nor to the higher', place)
  when 'first' then format('%s, the first brush or rice paddy, is seen through', place)
  when 'second' then format('%s, the second brush or rice paddy, is not seen through', place)
  when 'unprinted' then format('what %s does to sight is not printed', replace(terrain, '_', ' '))
  when 'spine' then 'the line runs along this side'
  when 'touch' then 'the line meets this hex in a corner point only'
  when 'end' then 'the line meets this side at its end'
  when 'below' then format('%s is %s on lower ground', place, replace(terrain, '_', ' '))
  when 'downhill' then format('%s is seen over from above a steep slope', place)
  when 'paddy_open' then 'a rice paddy is open'
  else format(
    case when effect = 'blocks' then 'a %s in the way' else 'a %s that does not hide what lies beyond' end,
    replace(code, '_', ' ')
  )
end;

comment on function css._sight_note(text, text, text, text) is
'What a row of css.los says in words.';

create or replace function css.los(
  position_id bigint,
  "from" text,
  "to" text,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (rule text, clause text, at text, effect text, note text, point text, range integer)
language plpgsql stable rows 8
as $$
declare
  view record;
  away integer;
  stopped boolean := false;
  unknown boolean := false;
  seen integer := 0;
  cell record;
  reach integer;
  spot text;
begin
  select
    position.map_id,
    coalesce(los.conditions, position.conditions) as conditions,
    reading.*,
    viewer.q as aq,
    viewer.r as ar,
    ahex.level as alevel,
    coalesce((viewer.attributes ->> 'in_cave')::boolean, false) as a_in_cave,
    target.q as tq,
    target.r as tr,
    coalesce((named.attributes ->> 'in_cave')::boolean, false) as t_in_cave,
    named.attributes -> 'zone' as zone,
    exists (select from public.hexside where hexside.map_id = position.map_id and hexside.kind = 'steep_slope')
    as steep
  into view
  from public.position
  cross join lateral css._readings(coalesce(los.policy, position.policy)) as reading
  cross join lateral positions.place(los.position_id, los."from") as viewer
  cross join lateral positions.place(los.position_id, los."to") as named
  -- 22.3.1: a naval zone is seen at its beach hex
  cross join lateral positions.place(
    los.position_id, coalesce(named.attributes -> 'zone' ->> 'beach', los."to")
  ) as target
  inner join public.hex as ahex on ahex.map_id = position.map_id and ahex.q = viewer.q and ahex.r = viewer.r
  where position.id = los.position_id;
  if view.tq is null then
    raise exception 'no line of sight from % to %: one of them is not on the map', los."from", los."to"
      using errcode = 'no_data_found';
  end if;
  away := lattice.distance(view.aq, view.ar, view.tq, view.tr);
  if away = 0 and view.a_in_cave <> view.t_in_cave then
    return query select '6.3', null::text, los."to", 'passes', 'the same hex is always seen', null::text, 1;
  elsif away = 1 then
    return query select '7.1.2', null::text, los."to", 'passes', 'an adjacent hex is always seen', null::text, 1;
  end if;

  -- 7.1.2: how far is seen at all
  if away > 1 then
    reach := css._visibility(view.conditions, exists (
      select from public.marker
      where marker.position_id = los.position_id
        and marker.q = view.tq
        and marker.r = view.tr
        and marker.kind = 'illumination'
    ));
    if away > reach or view.conditions ->> 'time' = 'night' or view.conditions ->> 'weather' = 'rain' then
      stopped := away > reach;
      return query select
        case
          when view.conditions ->> 'time' is distinct from 'night' then '7.1.2'
          when reach > 1 then '8.7.3'
          else '17.0'
        end,
        null::text,
        los."to",
        case when stopped then 'blocks' else 'passes' end,
        format('%s hexes can be seen now', reach),
        null::text,
        away;
    end if;
    -- css-11: out of a barrage
    for cell in
      select
        marked.*,
        view.out_of_barrage = 'a' or (view.out_of_barrage = 'c' and marked.bombardment) as holds
      from css._marked(los.position_id) as marked
      where marked.q = view.aq and marked.r = view.ar and marked.barrage
    loop
      stopped := stopped or cell.holds;
      return query select
        case when cell.holds then '7.1.2' else '8.7.2' end,
        null::text,
        los."from",
        case when cell.holds then 'blocks' else 'passes' end,
        case
          when cell.holds then 'under a barrage or bombardment only adjacent hexes are seen'
          else 'out of a barrage sight is normal'
        end,
        'css-11',
        away;
    end loop;
  end if;

  for cell in
    select line.*
    from css._line(
      view.map_id, los.position_id, view.aq, view.ar, view.alevel, view.a_in_cave, array[view.tq],
      array[view.tr], view.t_in_cave, view.paddy, view.ground, view.downhill, view.cane, view.corner, view.steep
    ) as line
    order by line.n
  loop
    spot := case
      when cell.label2 is null then cell.label1
      when cell.label1 is null then cell.label2
      else least(cell.label1, cell.label2) || '|' || greatest(cell.label1, cell.label2)
    end;
    if cell.kind <> 'hex' then
      if cell.kind <> 'spine' then
        spot := positions.trace_label(view.map_id, view.aq, view.ar, view.tq, view.tr, cell.n);
      end if;
      if cell.kind <> 'side' then
        return query select
          case when cell.kind = 'end' then '6.2.2' else '7.1.1' end,
          case when cell.kind = 'spine' then 'b' end,
          spot,
          'graze',
          css._sight_note(cell.kind, 'graze', spot, null),
          case when cell.kind <> 'spine' then 'css-62' end,
          away;
      end if;
      if cell.feature is not null then
        stopped := stopped or cell.feature_stops;
        return query select
          cell.feature_rule,
          cell.feature_clause,
          spot,
          case when cell.feature_stops then 'blocks' else 'passes' end,
          css._sight_note(cell.feature, case when cell.feature_stops then 'blocks' else 'passes' end, spot, null),
          case
            when cell.kind = 'end' then 'css-62'
            when cell.feature = 'cliff' and cell.feature_rule = '6.2.2' and not cell.same then 'css-44'
          end,
          away;
      end if;
    end if;
    if cell.kind = 'hex' and cell.label1 is null then
      stopped := true;
      return query select
        '7.1.1', null::text, null::text, 'blocks', 'the line leaves the map', null::text, away;
    end if;
    if cell.label1 is null and cell.label2 is null then
      continue;
    end if;
    if cell.stops then
      stopped := true;
      return query select
        reason.rule,
        reason.clause,
        reason.place,
        'blocks',
        css._sight_note(reason.code, 'blocks', reason.place, reason.terrain),
        case when reason.code = 'stands' then 'css-43' when cell.kind = 'touch' then 'css-62' end,
        away
      from (
        values
        (cell.barrage1, '8.7.2', null, 'barrage', cell.label1, cell.terrain1),
        (cell.barrage2, '8.7.2', null, 'barrage', cell.label2, cell.terrain2),
        (cell.screens1 and cell.burns1, '8.8.1', null, 'burns', cell.label1, cell.terrain1),
        (cell.screens2 and cell.burns2, '8.8.1', null, 'burns', cell.label2, cell.terrain2),
        (cell.screens1 and cell.burns1 is not true, '7.1.1', 'a', 'screens', cell.label1, cell.terrain1),
        (cell.screens2 and cell.burns2 is not true, '7.1.1', 'a', 'screens', cell.label2, cell.terrain2),
        (cell.towers1, '7.1.2', null, 'towers', cell.label1, cell.terrain1),
        (cell.towers2, '7.1.2', null, 'towers', cell.label2, cell.terrain2),
        (cell.rises1, '7.1.2', 'a', 'rises', cell.label1, cell.terrain1),
        (cell.rises2, '7.1.2', 'a', 'rises', cell.label2, cell.terrain2),
        (cell.hides1, '7.1.2', 'b', 'hides', cell.label1, cell.terrain1),
        (cell.hides2, '7.1.2', 'b', 'hides', cell.label2, cell.terrain2),
        (cell.stands1, '7.1.2', null, 'stands', cell.label1, cell.terrain1),
        (cell.stands2, '7.1.2', null, 'stands', cell.label2, cell.terrain2)
      ) as reason (holds, rule, clause, code, place, terrain)
      where reason.holds;
    elsif cell.thins then
      seen := seen + 1;
      stopped := stopped or seen > 1;
      return query select
        '7.1.1',
        'c',
        spot,
        case when seen > 1 then 'blocks' else 'passes' end,
        css._sight_note(case when seen > 1 then 'second' else 'first' end, '', spot, null),
        case when cell.paddies then 'css-12' when cell.kind = 'touch' then 'css-62' end,
        away;
    elsif cell.stops1 or cell.stops2 or cell.thins1 or cell.thins2 then
      return query select
        '7.1.1', 'b', spot, 'passes', 'one side of the spine is clear',
        case when cell.paddies then 'css-12' end, away;
    end if;
    if cell.unprinted and not cell.stops then
      unknown := true;
      return query select
        '6.2.1', null::text, spot, 'unknown', css._sight_note('unprinted', '', spot, 'sugar_cane'), 'css-54', away;
    end if;
    if not cell.stops then
      return query select
        excuse.rule,
        excuse.clause,
        excuse.place,
        'passes',
        css._sight_note(excuse.code, 'passes', excuse.place, excuse.terrain),
        excuse.point,
        away
      from (
        values
        (cell.below1, case when cell.same then '7.1.1' else '7.1.2' end, case when cell.same then 'a' else 'e' end,
          'below', cell.label1, cell.terrain1, null),
        (cell.below2, case when cell.same then '7.1.1' else '7.1.2' end, case when cell.same then 'a' else 'e' end,
          'below', cell.label2, cell.terrain2, null),
        (cell.excused1, '6.2.2', null, 'downhill', cell.label1, cell.terrain1, 'css-44'),
        (cell.excused2, '6.2.2', null, 'downhill', cell.label2, cell.terrain2, 'css-44'),
        (cell.between1 and view.ground = 'b', '7.1.2', null, 'not_standing', cell.label1, cell.terrain1, 'css-43'),
        (cell.between2 and view.ground = 'b', '7.1.2', null, 'not_standing', cell.label2, cell.terrain2, 'css-43'),
        (cell.paddies and view.paddy = 'a', '6.2.1', null, 'paddy_open', spot, 'rice_paddy', 'css-12')
      ) as excuse (holds, rule, clause, code, place, terrain, point)
      where excuse.holds;
    end if;
  end loop;

  if view.zone is not null then
    return query select
      '22.3.1',
      null::text,
      view.zone ->> 'beach',
      case view.zone ->> 'run' when 'final_run_in' then '+1' when 'approach' then '+3' else 'out of range' end,
      'a naval zone is seen, and its range counted, at the beach hex',
      null::text,
      away;
    away := case view.zone ->> 'run' when 'final_run_in' then away + 1 when 'approach' then away + 3 end;
  elsif away = 0 and view.a_in_cave <> view.t_in_cave then
    away := 1;
  end if;
  return query select
    '7.1.1',
    null::text,
    los."to",
    case when stopped then 'blocked' when unknown then 'unknown' else 'visible' end,
    case
      when stopped then 'the line of sight is blocked'
      when unknown then 'the rulebook does not print what would decide it'
      else 'nothing stops the line of sight'
    end,
    null::text,
    away;
end
$$;

comment on function css.los(bigint, text, text, jsonb, jsonb) is
'Whether one hex or unit sees another: a row for every rule that speaks, the verdict last.';

create or replace function css._fan_of(
  position_id bigint, "from" text, radius integer, conditions jsonb, policy jsonb
)
returns table (
  map_id bigint,
  now jsonb,
  out_of_barrage text,
  paddy text,
  ground text,
  downhill text,
  cane text,
  corner text,
  q integer,
  r integer,
  level integer,
  in_cave boolean,
  shut_in boolean,
  steep boolean,
  tqs integer[],
  trs integer[]
)
language sql stable rows 1
as $$
  select
    position.map_id,
    state.conditions,
    reading.*,
    viewer.q,
    viewer.r,
    hex.level::integer,
    coalesce((viewer.attributes ->> 'in_cave')::boolean, false),
    -- css-11: out of a barrage
    exists (
      select from css._marked(_fan_of.position_id) as marked
      where marked.q = viewer.q
        and marked.r = viewer.r
        and marked.barrage
        and (reading.out_of_barrage = 'a' or (reading.out_of_barrage = 'c' and marked.bombardment))
    ),
    exists (select from public.hexside where hexside.map_id = position.map_id and hexside.kind = 'steep_slope'),
    disc.tqs,
    disc.trs
  from public.position
  cross join lateral (select coalesce(_fan_of.conditions, position.conditions) as conditions) as state
  cross join lateral css._readings(coalesce(_fan_of.policy, position.policy)) as reading
  cross join lateral positions.place(_fan_of.position_id, _fan_of."from") as viewer
  inner join public.hex on hex.map_id = position.map_id and hex.q = viewer.q and hex.r = viewer.r
  cross join lateral (
    select
      array_agg(disc.hq) as tqs,
      array_agg(disc.hr) as trs
    -- nothing is seen farther than this, whatever the light (7.1.2)
    from lattice.disc(viewer.q, viewer.r, least(_fan_of.radius, css._visibility(state.conditions, true))) as disc
    where disc.dq <> 0 or disc.dr <> 0
  ) as disc
  where position.id = _fan_of.position_id
$$;

comment on function css._fan_of(bigint, text, integer, jsonb, jsonb) is
'All that a fan must know of its viewer: where it is, what holds now, and every hex it might see.';

create or replace function css.fan(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (q integer, r integer, label text, range integer)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  view record;
begin
  select * into view
  from css._fan_of(fan.position_id, fan."from", fan.radius, fan.conditions, fan.policy);
  if view.q is null then
    raise exception 'no hex or unit % on the map of this position', fan."from" using errcode = 'no_data_found';
  end if;
  return query
  select
    hex.q,
    hex.r,
    hex.label,
    line.away
  from (
    select
      line.tq,
      line.tr,
      line.away
    from css._line(
      view.map_id, fan.position_id, view.q, view.r, view.level, view.in_cave, view.tqs, view.trs, false,
      view.paddy, view.ground, view.downhill, view.cane, view.corner, view.steep
    ) as line
    where line.away = 1 or (not view.shut_in and line.away <= css._visibility(view.now, line.lit))
    group by line.tq, line.tr, line.away
    having not bool_or(line.feature_stops or (line.stops and line.away > 1 and line.kind <> 'side' and line.kind <> 'end'))
    and count(*) filter (where line.thins) < 2
    and not bool_or(line.unprinted and line.away > 1)
  ) as line
  inner join public.hex on hex.map_id = view.map_id and hex.q = line.tq and hex.r = line.tr;
end
$$;

comment on function css.fan(bigint, text, integer, jsonb, jsonb) is
'Every hex that a hex or unit sees, with its range; the verdicts are those of css.los.';

create or replace function css.fan_reasons(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (rule text, clause text, at text, effect text, note text, point text)
language sql stable rows 50
as $$
  select
    los.rule,
    los.clause,
    los.at,
    case los.effect when 'blocks' then 'hides' else los.effect end,
    format('%s %s', count(*), case when los.effect = 'blocks' then 'hexes hidden' else 'lines' end),
    los.point
  from (
    select
      los.rule,
      los.clause,
      case when los.at = hex.label and los.rule in ('7.1.2', '17.0', '8.7.3') then fan_reasons."from" else los.at end
      as at,
      los.effect,
      los.point
    from css._fan_of(
      fan_reasons.position_id, fan_reasons."from", fan_reasons.radius, fan_reasons.conditions, fan_reasons.policy
    ) as view
    cross join lateral unnest(view.tqs, view.trs) as wanted (q, r)
    inner join public.hex on hex.map_id = view.map_id and hex.q = wanted.q and hex.r = wanted.r
    cross join lateral css.los(
      fan_reasons.position_id, fan_reasons."from", hex.label, fan_reasons.conditions, fan_reasons.policy
    ) as los
    where los.effect in ('blocks', 'unknown') or los.point is not null
  ) as los
  group by los.rule, los.clause, los.at, los.effect, los.point
  order by count(*) desc, los.rule, los.clause, los.at
$$;

comment on function css.fan_reasons(bigint, text, integer, jsonb, jsonb) is
'What hides hexes from a viewer: every rule with its place and how many hexes it hides.';
