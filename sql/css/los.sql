-- needs: lattice/trace.sql, positions/place.sql
-- Line of sight in css (Guam): 6.2.1, 6.2.2, 6.3, 7.1, 8.7.2, 8.7.3, 8.8.1, 17.0, 22.3.1.
--
-- `css._hexes_met` and `css._sides_met` judge what the lines from one hex to several others
-- meet, a row a cell. `css.fan` keeps the targets that no cell stops; `css.los` tells the
-- cells of one line in words, a row for every rule that speaks. There is one judgement, so
-- the two cannot disagree.
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
    coalesce(policy ->> 'css-11', ruleset.presets ->> 'css-11'),
    coalesce(policy ->> 'css-12', ruleset.presets ->> 'css-12'),
    coalesce(policy ->> 'css-43', ruleset.presets ->> 'css-43'),
    coalesce(policy ->> 'css-44', ruleset.presets ->> 'css-44'),
    coalesce(policy ->> 'css-54', ruleset.presets ->> 'css-54'),
    coalesce(policy ->> 'css-62', ruleset.presets ->> 'css-62')
  from public.ruleset
  where ruleset.code = 'css'
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

create or replace function css._downhill(
  board bigint, aq integer, ar integer, tqs integer[], trs integer[]
)
returns table (tq integer, tr integer, level integer)
language sql stable parallel safe rows 10
as $$
  select
    target.q,
    target.r,
    max(greatest(one.level, two.level))::integer
  from unnest(tqs, trs) as target (q, r)
  inner join lattice.trace
    on trace.dq = target.q - aq
      and trace.dr = target.r - ar
      and trace.crossed
      and (trace.of_start or trace.of_target)
  inner join public.hexside
    on hexside.map_id = board
      and hexside.x = 2 * aq + trace.x
      and hexside.y = 2 * ar + trace.y
      and hexside.kind = 'steep_slope'
  inner join public.hex as one on one.map_id = board and one.q = aq + trace.q1 and one.r = ar + trace.r1
  inner join public.hex as two on two.map_id = board and two.q = aq + trace.q2 and two.r = ar + trace.r2
  where (one.level > two.level and (one.q, one.r) in ((aq, ar), (target.q, target.r)))
    or (two.level > one.level and (two.q, two.r) in ((aq, ar), (target.q, target.r)))
  group by target.q, target.r
$$;

comment on function css._downhill(bigint, integer, integer, integer[], integer[]) is
'Targets whose line crosses a steep slope of one end''s own hex with that end above it (6.2.2), and its level.';

create or replace function css._marked(position_id bigint)
returns table (q integer, r integer, barrage boolean, bombardment boolean, on_fire boolean, sight text)
language sql stable parallel safe rows 4
as $$
  select
    marker.q,
    marker.r,
    bool_or(marker.kind in (
      'smoke_barrage', 'light_barrage', 'medium_barrage', 'heavy_barrage', 'bombardment'
    )),
    bool_or(marker.kind = 'bombardment'),
    bool_or(marker.kind = 'on_fire'),
    -- 8.8.1: a fire blocks, and leaves clear ground behind
    case
      when bool_or(marker.kind = 'on_fire') then 'blocks'
      when bool_or(marker.kind = 'fire_cleared') then 'open'
    end
  from public.marker
  where marker.position_id = _marked.position_id
    and marker.kind in (
      'smoke_barrage', 'light_barrage', 'medium_barrage', 'heavy_barrage', 'bombardment', 'on_fire', 'fire_cleared'
    )
  group by marker.q, marker.r
$$;

comment on function css._marked(bigint) is
'Hexes whose markers bear on sight: barrages and bombardments, fires, burnt ground.';

create or replace function css._ground(terrain text, features text[])
returns text
language sql immutable parallel safe
return case when 'cave' = any(features) then 'rocky' else terrain end;

comment on function css._ground(text, text[]) is
'The terrain whose effects a hex has: outside of its cave a cave hex is rocky (6.3).';

create or replace function css._sight_of(
  terrain text, paddy text, cane text, blocking text[], thinning text[], clear text[]
)
returns text
language sql immutable parallel safe
return case
  when terrain = any(clear) then 'open'
  when terrain = any(blocking) then 'blocks'
  when terrain = 'rice_paddy' and paddy = 'a' then 'open'
  when terrain = any(thinning) or (terrain = 'sugar_cane' and cane = 'b') then 'blocks_at_second'
  else 'unknown'
end;

comment on function css._sight_of(text, text, text, text[], text[], text[]) is
'What a terrain does to sight: as its ruleset prints it, rice paddy and sugar cane as they are read (css-12, css-54).';

create or replace function css._sight_classes()
returns table (blocking text[], thinning text[], clear text[])
language sql stable parallel safe rows 1
as $$
  select
    array_agg(terrain.code) filter (where terrain.sight = 'blocks'),
    array_agg(terrain.code) filter (where terrain.sight = 'blocks_at_second'),
    array_agg(terrain.code) filter (where terrain.sight = 'open')
  from public.terrain
  where terrain.ruleset = 'css'
$$;

comment on function css._sight_classes() is
'The terrains that block sight, that block it at the second, and that are open.';

create or replace function css._met(
  level integer,
  high integer,
  low integer,
  same boolean,
  beside_low boolean,
  sight text,
  barrage boolean,
  burns boolean,
  terrain text,
  covered boolean,
  low_cover boolean,
  overlooked boolean,
  ground text
)
returns integer
language sql immutable parallel safe
return case
  when level is null then null
  else
    -- 8.7.2
    case when barrage then 1 else 0 end
    -- 7.1.2: higher than both ends
    + case when level > high then 2 else 0 end
    -- 7.1.2 a: as high as the higher end
    + case when level = high and not same and not overlooked then 4 else 0 end
    -- 7.1.2 b: beside the lower end and higher than it
    + case when not same and level > low and beside_low and not overlooked then 8 else 0 end
    -- the opening words of 7.1.2 taken literally (css-43)
    + case when ground = 'a' and level > low and level < high and not overlooked then 16 else 0 end
    -- 7.1.1 a: blocking terrain at the level of the higher end; below it, 7.1.2 e
    + case when sight = 'blocks' and level = high and not low_cover then 32 else 0 end
    -- that is because it burns (8.8.1)
    + case when burns then 64 else 0 end
    -- 7.1.1 c: one is seen through, the second is not
    + case when same and sight = 'blocks_at_second' and level = high and not low_cover then 128 else 0 end
    -- what it does to sight is not printed
    + case when same and sight = 'unknown' and level = high and not low_cover and not barrage then 256 else 0 end
    -- told, though it stops nothing: a rice paddy, lower ground, the view from above, ground in between
    + case when same and terrain = 'rice_paddy' and level = high then 512 else 0 end
    + case when level < high and sight in ('blocks', 'blocks_at_second') then 1024 else 0 end
    + case when low_cover and level = high then 2048 else 0 end
    + case when level > low and level < high then 4096 else 0 end
    -- sugar cane, which css-54 may read as brush
    + case when same and terrain = 'sugar_cane' and level = high then 8192 else 0 end
    -- low cover before an end that looks down a steep slope, however that is read (css-44)
    + case when covered then 16384 else 0 end
end;

comment on function css._met(
  integer, integer, integer, boolean, boolean, text, boolean, boolean, text, boolean, boolean, boolean, text
) is
'What a hex on the way is to the line, as bits: the low six (1 to 32) stop it, 128 thins it; the rest is told.';

create or replace function css._hexes_met(
  board bigint,
  position_id bigint,
  aq integer,
  ar integer,
  alevel integer,
  tqs integer[],
  trs integer[],
  aboves integer[],
  paddy text,
  ground text,
  downhill text,
  cane text,
  corner text,
  blocking text[],
  thinning text[],
  clear text[],
  near integer,
  telling boolean
)
returns table (
  tq integer,
  tr integer,
  same boolean,
  n integer,
  kind text,
  label1 text,
  label2 text,
  terrain1 text,
  terrain2 text,
  met1 integer,
  met2 integer
)
language sql stable parallel safe rows 300
as $$
  select
    cell.tq,
    cell.tr,
    cell.same,
    cell.n,
    cell.kind,
    cell.label1,
    cell.label2,
    cell.terrain1,
    cell.terrain2,
    css._met(
      cell.level1, cell.high, cell.low, cell.same, cell.beside_low1, cell.sight1, cell.barrage1, cell.burns1,
      cell.terrain1, cell.covered1, cell.covered1 and downhill <> 'b',
      cell.covered1 and downhill = 'c' and cell.level1 <= cell.above, ground
    ),
    css._met(
      cell.level2, cell.high, cell.low, cell.same, cell.beside_low2, cell.sight2, cell.barrage2, cell.burns2,
      cell.terrain2, cell.covered2, cell.covered2 and downhill <> 'b',
      cell.covered2 and downhill = 'c' and cell.level2 <= cell.above, ground
    )
  from (
    select
      line.tq,
      line.tr,
      line.same,
      line.high,
      line.low,
      line.above,
      trace.n::integer as n,
      trace.kind,
      h1.label as label1,
      h2.label as label2,
      css._ground(h1.terrain, h1.features) as terrain1,
      css._ground(h2.terrain, h2.features) as terrain2,
      case when trace.kind <> 'touch' or corner = 'b' then h1.level::integer end as level1,
      h2.level::integer as level2,
      lattice.distance(h1.q, h1.r, line.low_q, line.low_r) = 1 as beside_low1,
      lattice.distance(h2.q, h2.r, line.low_q, line.low_r) = 1 as beside_low2,
      coalesce(
        m1.sight, css._sight_of(css._ground(h1.terrain, h1.features), paddy, cane, blocking, thinning, clear)
      ) as sight1,
      coalesce(
        m2.sight, css._sight_of(css._ground(h2.terrain, h2.features), paddy, cane, blocking, thinning, clear)
      ) as sight2,
      coalesce(m1.barrage, false) as barrage1,
      coalesce(m2.barrage, false) as barrage2,
      coalesce(m1.on_fire, false) as burns1,
      coalesce(m2.on_fire, false) as burns2,
      line.above is not null and m1.sight is null
      and css._ground(h1.terrain, h1.features) in ('brush', 'rocky', 'sugar_cane') as covered1,
      line.above is not null and m2.sight is null
      and css._ground(h2.terrain, h2.features) in ('brush', 'rocky', 'sugar_cane') as covered2
    from (
      select
        target.q as tq,
        target.r as tr,
        target.above,
        hex.level = alevel as same,
        greatest(hex.level::integer, alevel) as high,
        least(hex.level::integer, alevel) as low,
        case when hex.level < alevel then target.q else aq end as low_q,
        case when hex.level < alevel then target.r else ar end as low_r
      from unnest(tqs, trs, aboves) as target (q, r, above)
      inner join public.hex on hex.map_id = board and hex.q = target.q and hex.r = target.r
      offset 0
    ) as line
    inner join lattice.trace
      on trace.dq = line.tq - aq
        and trace.dr = line.tr - ar
        and trace.kind <> 'side'
        and trace.kind <> 'end'
        and (telling or trace.kind <> 'touch' or corner = 'b')
        and (near is null or abs(trace.x) + abs(trace.y) <= 2 * near)
    left join public.hex as h1 on h1.map_id = board and h1.q = aq + trace.q1 and h1.r = ar + trace.r1
    -- a key that is null is looked up nowhere
    left join public.hex as h2
      on h2.map_id = board and h2.q = case when trace.kind = 'spine' then aq + trace.q2 end and h2.r = ar + trace.r2
    left join css._marked(_hexes_met.position_id) as m1 on m1.q = h1.q and m1.r = h1.r
    left join css._marked(_hexes_met.position_id) as m2 on m2.q = h2.q and m2.r = h2.r
    -- fenced off, so that what is found out of a cell is found out once
    offset 0
  ) as cell
  offset 0
$$;

comment on function css._hexes_met(
  bigint, bigint, integer, integer, integer, integer[], integer[], integer[], text, text, text, text, text,
  text[], text[], text[], integer, boolean
) is
'The hexes that lines from one hex to several others pass or run beside, all or the near ones, judged: a row each.';

create or replace function css._sides_met(
  board bigint,
  aq integer,
  ar integer,
  alevel integer,
  a_in_cave boolean,
  tqs integer[],
  trs integer[],
  aboves integer[],
  t_in_cave boolean,
  corner text,
  telling boolean
)
returns table (
  tq integer,
  tr integer,
  same boolean,
  n integer,
  kind text,
  label1 text,
  label2 text,
  feature text,
  way text,
  of_cave boolean,
  above integer
)
language sql stable parallel safe rows 30
as $$
  select
    target.q,
    target.r,
    hex.level = alevel,
    trace.n::integer,
    trace.kind,
    h1.label,
    h2.label,
    hexside.kind,
    case
      when hexside.kind is null then null
      when trace.kind = 'spine' then 'along'
      -- met at its end only (css-62)
      when trace.kind = 'end' and not trace.crossed and corner = 'a' then 'aside'
      when trace.of_start or trace.of_target then 'beside'
      else 'across'
    end,
    (a_in_cave and trace.of_start) or (t_in_cave and trace.of_target),
    target.above
  from unnest(tqs, trs, aboves) as target (q, r, above)
  inner join public.hex on hex.map_id = board and hex.q = target.q and hex.r = target.r
  inner join lattice.trace
    on trace.dq = target.q - aq
      and trace.dr = target.r - ar
      and trace.kind <> 'hex'
      and trace.kind <> 'touch'
      and (telling or trace.kind <> 'end' or trace.crossed or corner = 'b')
  left join public.hexside
    on hexside.map_id = board
      and hexside.x = 2 * aq + trace.x
      and hexside.y = 2 * ar + trace.y
      -- asked so that it is not four look-ups
      and hexside.kind || '' in ('slope', 'steep_slope', 'ridge', 'cliff')
  left join public.hex as h1
    on h1.map_id = board and h1.q = case when telling then aq + trace.q1 end and h1.r = ar + trace.r1
  left join public.hex as h2
    on h2.map_id = board and h2.q = case when telling then aq + trace.q2 end and h2.r = ar + trace.r2
  where hexside.kind is not null or (telling and trace.kind = 'end' and trace.crossed)
$$;

comment on function css._sides_met(
  bigint, integer, integer, integer, boolean, integer[], integer[], integer[], boolean, text, boolean
) is
'The blocking hexsides that lines from one hex to several others meet, and how: a row a feature.';

create or replace function css._stops(kind text, met1 integer, met2 integer)
returns boolean
language sql immutable parallel safe
return case
  -- a hex that is not there is off the map
  when met1 is null and met2 is null then kind = 'hex'
  -- along a side both hexes must stop the line (7.1.1 b), along the rim the one that is there
  else coalesce(met1, met2) & 63 <> 0 and coalesce(met2, met1) & 63 <> 0
end;

comment on function css._stops(text, integer, integer) is
'Whether a cell of css._hexes_met stops the line.';

create or replace function css._point_of(met1 integer, met2 integer)
returns text
language sql immutable parallel safe
return case
  when (coalesce(met1, 0) | coalesce(met2, 0)) & 512 <> 0 then 'css-12'
  when (coalesce(met1, 0) | coalesce(met2, 0)) & 8192 <> 0 then 'css-54'
  when (coalesce(met1, 0) | coalesce(met2, 0)) & 16384 <> 0 then 'css-44'
end;

comment on function css._point_of(integer, integer) is
'The contested point that a cell of css._hexes_met counts as brush by: rice paddy, sugar cane, the view from above.';

create or replace function css._untold(met1 integer, met2 integer)
returns boolean
language sql immutable parallel safe
return case
  when met1 is null or met2 is null then coalesce(met1, met2, 0) & 256 <> 0
  -- one side that is open, or at worst thin, is enough (7.1.1 b)
  else (met1 & 256 <> 0 and met2 & 319 <> 0) or (met2 & 256 <> 0 and met1 & 319 <> 0)
end;

comment on function css._untold(integer, integer) is
'Whether a cell of css._hexes_met turns on terrain whose sight the rulebook does not print.';

create or replace function css._may_thin(met1 integer, met2 integer)
returns boolean
language sql immutable parallel safe
return coalesce((met1 & 256 <> 0 and met2 & 128 <> 0) or (met2 & 256 <> 0 and met1 & 128 <> 0), false);

comment on function css._may_thin(integer, integer) is
'Whether a cell of css._hexes_met counts as brush at worst: sugar cane on the one side, brush on the other.';

create or replace function css._side_stops(feature text, way text, of_cave boolean, overlooked boolean)
returns boolean
language sql immutable parallel safe
return coalesce(
  -- 7.1.2 d: along a blocking side; 6.3: out of a cave over any but a cliff
  way = 'along'
  or (of_cave and way <> 'aside' and feature <> 'cliff')
  -- 6.2.2, 7.1.2 c: across one that belongs to neither end; a cliff may be overlooked (css-44)
  or (way = 'across' and not (overlooked and feature = 'cliff')),
  false
);

comment on function css._side_stops(text, text, boolean, boolean) is
'Whether a blocking feature of a hexside on the way stops the line.';

create or replace function css._thins(met1 integer, met2 integer)
returns boolean
language sql immutable parallel safe
return coalesce(
  coalesce(met1, met2) & 191 <> 0
  and coalesce(met2, met1) & 191 <> 0
  and not (coalesce(met1, met2) & 63 <> 0 and coalesce(met2, met1) & 63 <> 0),
  false
);

comment on function css._thins(integer, integer) is
'Whether a cell of css._hexes_met, which does not stop the line, counts as brush or rice paddy (7.1.1 c).';

create or replace function css._say(
  met integer, stops boolean, untold boolean, same boolean, ground text, paddy text
)
returns table (rule text, clause text, effect text, code text, point text)
language plpgsql immutable parallel safe rows 2
as $$
begin
  if stops then
    effect := 'blocks';
    if met & 1 <> 0 then
      rule := '8.7.2';
      code := 'barrage';
      return next;
    end if;
    point := case when met & 16384 <> 0 then 'css-44' end;
    if met & 32 <> 0 then
      rule := case when met & 64 <> 0 then '8.8.1' else '7.1.1' end;
      clause := case when met & 64 = 0 then 'a' end;
      code := case when met & 64 <> 0 then 'burns' else 'screens' end;
      return next;
      clause := null;
    end if;
    rule := '7.1.2';
    if met & 2 <> 0 then
      code := 'towers';
      return next;
    end if;
    if met & 4 <> 0 then
      clause := 'a';
      code := 'rises';
      return next;
    end if;
    if met & 8 <> 0 then
      clause := 'b';
      code := 'hides';
      return next;
    end if;
    if met & 16 <> 0 then
      clause := null;
      code := 'stands';
      point := 'css-43';
      return next;
    end if;
    return;
  end if;
  effect := 'passes';
  if met & 1024 <> 0 then
    rule := case when same then '7.1.1' else '7.1.2' end;
    clause := case when same then 'a' else 'e' end;
    code := 'below';
    return next;
    clause := null;
  end if;
  if met & 2048 <> 0 then
    rule := '6.2.2';
    code := 'downhill';
    point := 'css-44';
    return next;
  end if;
  if met & 4096 <> 0 and ground = 'b' then
    rule := '7.1.2';
    code := 'between';
    point := 'css-43';
    return next;
  end if;
  if met & 512 <> 0 and paddy = 'a' then
    rule := '6.2.1';
    code := 'paddy_open';
    point := 'css-12';
    return next;
  end if;
  if met & 256 <> 0 and untold then
    rule := '6.2.1';
    effect := 'unknown';
    code := 'unprinted';
    point := 'css-54';
    return next;
  end if;
end
$$;

comment on function css._say(integer, boolean, boolean, boolean, text, text) is
'The rules behind the bits of css._met: every reason where the line is stopped, every excuse where it is not.';

create or replace function css._sight_note(code text, effect text, place text, terrain text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case code
    when 'barrage' then format('%s lies under a barrage, which no line passes', place)
    when 'towers' then format('%s is higher than both ends', place)
    when 'screens' then format('%s is %s at the level of the higher end', place, replace(terrain, '_', ' '))
    when 'burns' then format('%s burns', place)
    when 'rises' then format('%s is as high as the higher end', place)
    when 'hides' then format('%s is higher than the lower end beside it: a blind spot', place)
    when 'stands' then format('%s is higher than the lower end', place)
    when 'between' then format('%s rises above the lower end, but not beside it nor to the higher', place)
    when 'first' then format('%s, the first brush or rice paddy, is seen through', place)
    when 'second' then format('%s, the second brush or rice paddy, is not seen through', place)
    when 'one_side' then 'one side of the spine is clear'
    when 'off_map' then 'the line leaves the map'
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
end
$$;

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
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  view record;
  away integer;
  reach integer;
  above integer;
  shut_in boolean;
  stopped boolean := false;
  unknown boolean := false;
  seen integer := 0;
  possible integer := 0;
  maybe text;
  cell record;
  spoken record;
  over_cliff boolean;
  spot text;
  corner_point text;
begin
  select
    position.map_id,
    coalesce(los.conditions, position.conditions) as conditions,
    reading.*,
    viewer.q as aq,
    viewer.r as ar,
    hex.level::integer as alevel,
    coalesce((viewer.attributes ->> 'in_cave')::boolean, false) as a_in_cave,
    target.q as tq,
    target.r as tr,
    coalesce((target.attributes ->> 'in_cave')::boolean, false) as t_in_cave,
    target.attributes -> 'zone' as zone,
    here.barrage,
    here.bombardment,
    class.*
  into view
  from public.position
  cross join lateral css._readings(coalesce(los.policy, position.policy)) as reading
  cross join lateral positions.place(los.position_id, los."from") as viewer
  inner join public.hex on hex.map_id = position.map_id and hex.q = viewer.q and hex.r = viewer.r
  cross join lateral positions.place(los.position_id, los."to") as target
  left join css._marked(los.position_id) as here on here.q = viewer.q and here.r = viewer.r
  cross join lateral css._sight_classes() as class
  where position.id = los.position_id;
  if view.zone is not null then
    -- 22.3.1: a naval zone is seen at its beach hex
    select place.q, place.r
    into view.tq, view.tr
    from positions.place(los.position_id, view.zone ->> 'beach') as place;
  end if;
  if view.tq is null then
    raise exception 'no line of sight from % to %: one of them is not on the map', los."from", los."to"
      using errcode = 'no_data_found';
  end if;
  away := lattice.distance(view.aq, view.ar, view.tq, view.tr);
  reach := css._visibility(view.conditions, exists (
    select from public.marker
    where marker.position_id = los.position_id
      and marker.q = view.tq
      and marker.r = view.tr
      and marker.kind = 'illumination'
  ));

  above := (
    select downhill.level
    from css._downhill(view.map_id, view.aq, view.ar, array[view.tq], array[view.tr]) as downhill
  );

  -- what the whole line is subject to
  point := null;
  clause := null;
  range := away;
  at := los."to";
  effect := 'passes';
  if away = 0 and view.a_in_cave <> view.t_in_cave then
    rule := '6.3';
    note := 'the same hex is always seen';
    return next;
  elsif away = 1 then
    rule := '7.1.2';
    note := 'an adjacent hex is always seen';
    return next;
  elsif away > reach or (away > 1 and (reach < 8 or view.conditions ->> 'time' = 'night')) then
    stopped := away > reach;
    rule := case
      when view.conditions ->> 'time' is distinct from 'night' then '7.1.2'
      when reach > 1 then '8.7.3'
      else '17.0'
    end;
    effect := case when stopped then 'blocks' else 'passes' end;
    note := format('%s hexes can be seen now', reach);
    return next;
  end if;
  if away > 1 and view.barrage then
    -- css-11: out of a barrage
    shut_in := view.out_of_barrage = 'a' or (view.out_of_barrage = 'c' and view.bombardment);
    stopped := stopped or shut_in;
    rule := case when shut_in then '7.1.2' else '8.7.2' end;
    at := los."from";
    effect := case when shut_in then 'blocks' else 'passes' end;
    note := case
      when shut_in then 'under a barrage or bombardment only adjacent hexes are seen'
      else 'out of a barrage sight is normal'
    end;
    point := 'css-11';
    return next;
  end if;

  -- what it meets on its way
  for cell in
    select
      side.n,
      side.kind,
      side.same,
      side.label1,
      side.label2,
      null::text as terrain1,
      null::text as terrain2,
      null::integer as met1,
      null::integer as met2,
      false as stops,
      false as thins,
      false as untold,
      false as may_thin,
      side.feature,
      side.way,
      side.of_cave
    from css._sides_met(
      view.map_id, view.aq, view.ar, view.alevel, view.a_in_cave, array[view.tq], array[view.tr], array[above],
      view.t_in_cave, view.corner, true
    ) as side
    union all
    select
      hex.n,
      hex.kind,
      hex.same,
      hex.label1,
      hex.label2,
      hex.terrain1,
      hex.terrain2,
      hex.met1,
      hex.met2,
      css._stops(hex.kind, hex.met1, hex.met2),
      css._thins(hex.met1, hex.met2),
      css._untold(hex.met1, hex.met2),
      css._may_thin(hex.met1, hex.met2),
      null,
      null,
      false
    from css._hexes_met(
      view.map_id, los.position_id, view.aq, view.ar, view.alevel, array[view.tq], array[view.tr], array[above],
      view.paddy, view.ground, view.downhill, view.cane, view.corner, view.blocking, view.thinning, view.clear, null,
      true
    ) as hex
    order by 1
  loop
    spot := case when cell.kind = 'hex' then cell.label1 else positions.side_label(cell.label1, cell.label2) end;
    corner_point := case when cell.kind = 'touch' or cell.kind = 'end' then 'css-62' end;
    if cell.kind = 'end' or (cell.feature is null and cell.kind <> 'hex') then
      rule := case when cell.kind = 'end' then '6.2.2' else '7.1.1' end;
      clause := case when cell.kind = 'spine' then 'b' end;
      at := spot;
      effect := 'graze';
      note := css._sight_note(cell.kind, effect, spot, null);
      point := corner_point;
      return next;
    end if;
    if cell.feature is not null then
      over_cliff := cell.feature = 'cliff' and cell.way = 'across' and above is not null and view.downhill <> 'b';
      effect := case
        when css._side_stops(cell.feature, cell.way, cell.of_cave, over_cliff) then 'blocks'
        else 'passes'
      end;
      rule := case
        when cell.way = 'along' then '7.1.2'
        when cell.of_cave and cell.way <> 'aside' and cell.feature <> 'cliff' then '6.3'
        when cell.same or over_cliff then '6.2.2'
        else '7.1.2'
      end;
      clause := case when cell.way = 'along' then 'd' when rule = '7.1.2' then 'c' end;
      at := spot;
      note := css._sight_note(cell.feature, effect, spot, null);
      point := case
        when cell.feature = 'cliff' and cell.way = 'across' and above is not null then 'css-44'
        else corner_point
      end;
      stopped := stopped or effect = 'blocks';
      return next;
    end if;
    if cell.kind = 'end' or cell.feature is not null then
      continue;
    end if;
    if cell.stops then
      stopped := true;
      if cell.met1 is null and cell.met2 is null then
        rule := '7.1.1';
        clause := null;
        at := null;
        effect := 'blocks';
        note := 'the line leaves the map';
        point := null;
        return next;
      end if;
    elsif cell.thins then
      seen := seen + 1;
      stopped := stopped or seen > 1;
      rule := '7.1.1';
      clause := 'c';
      at := spot;
      effect := case when seen > 1 then 'blocks' else 'passes' end;
      note := css._sight_note(case when seen > 1 then 'second' else 'first' end, effect, spot, null);
      point := coalesce(css._point_of(cell.met1, cell.met2), corner_point);
      return next;
    elsif cell.may_thin then
      possible := possible + 1;
      rule := '7.1.1';
      clause := 'c';
      at := spot;
      effect := 'passes';
      note := 'at worst a brush that is seen through';
      point := 'css-54';
      maybe := spot;
      return next;
    elsif not cell.untold and (coalesce(cell.met1, 0) | coalesce(cell.met2, 0)) & 447 <> 0 then
      rule := '7.1.1';
      clause := 'b';
      at := spot;
      effect := 'passes';
      note := 'one side of the spine is clear';
      point := css._point_of(cell.met1, cell.met2);
      return next;
    end if;
    if coalesce(cell.met1, 0) | coalesce(cell.met2, 0) <> 0 then
      for spoken in
        select
          said.*,
          side.label,
          side.terrain
        from (
          values (cell.met1, cell.label1, cell.terrain1), (cell.met2, cell.label2, cell.terrain2)
        ) as side (met, label, terrain)
        cross join lateral css._say(side.met, cell.stops, cell.untold, cell.same, view.ground, view.paddy) as said
      loop
        rule := spoken.rule;
        clause := spoken.clause;
        at := spoken.label;
        effect := spoken.effect;
        note := css._sight_note(spoken.code, effect, at, spoken.terrain);
        point := coalesce(spoken.point, corner_point);
        unknown := unknown or effect = 'unknown';
        return next;
      end loop;
    end if;
  end loop;

  if seen < 2 and seen + possible > 1 then
    unknown := true;
    rule := '6.2.1';
    clause := null;
    at := maybe;
    effect := 'unknown';
    note := css._sight_note('unprinted', effect, at, 'sugar_cane');
    point := 'css-54';
    return next;
  end if;
  clause := null;
  point := null;
  effect := null;
  if view.zone is not null then
    rule := '22.3.1';
    at := view.zone ->> 'beach';
    effect := case view.zone ->> 'run' when 'final_run_in' then '+1' when 'approach' then '+3' else 'out of range' end;
    note := 'a naval zone is seen, and its range counted, at the beach hex';
    return next;
    range := case view.zone ->> 'run' when 'final_run_in' then away + 1 when 'approach' then away + 3 end;
  elsif away = 0 and view.a_in_cave <> view.t_in_cave then
    range := 1;
  end if;
  rule := '7.1.1';
  at := los."to";
  effect := case when stopped then 'blocked' when unknown then 'unknown' else 'visible' end;
  note := case
    when stopped then 'the line of sight is blocked'
    when unknown then 'the rulebook does not print what would decide it'
    else 'nothing stops the line of sight'
  end;
  return next;
end
$$;

comment on function css.los(bigint, text, text, jsonb, jsonb) is
'Whether one hex or unit sees another: a row for every rule that speaks, the verdict last.';
