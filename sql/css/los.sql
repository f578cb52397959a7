-- needs: lattice/trace.sql, positions/place.sql
-- Line of sight in css (Guam): 6.2.1, 6.2.2, 6.3, 7.1, 8.7.2, 8.7.3, 8.8.1, 17.0, 22.3.1.
--
-- `css._met` judges a hex and `css._side_stops` a hexside. `css.los` asks them for the cells
-- of one line and tells the rules that speak; `css.fan` asks the same two for the lines to
-- all hexes near enough, and keeps those that nothing stops.
--
-- Ties. Along a side both hexes are met: terrain, height and markers stop the line only
-- where both sides would (7.1.1 b); a blocking hexside that the line runs along always
-- does (7.1.2 d). Along the rim the one hex that is on the map decides. A hex met in a
-- corner point is not passed, and a hexside met at its end is crossed only if the line
-- goes from one of its hexes into the other there (6.2.2: a feature fills its whole
-- side); css-62 reads it otherwise. Such a line says so in a `graze` row.

create or replace function css._readings(policy jsonb)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return (select ruleset.presets || coalesce(policy, '{}') from public.ruleset where ruleset.code = 'css');
end
$$;

comment on function css._readings(jsonb) is
'The readings in force, by contested point.';

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

create or replace function css._downhill(board bigint, aq integer, ar integer, tq integer, tr integer)
returns integer
language plpgsql stable parallel safe
as $$
declare
  side record;
  above integer;
begin
  for side in
    select
      trace.q1,
      trace.r1,
      trace.q2,
      trace.r2
    from lattice.trace
    inner join public.hexside
      on hexside.map_id = board
        and hexside.x = 2 * aq + trace.x
        and hexside.y = 2 * ar + trace.y
        and hexside.kind = 'steep_slope'
    where trace.dq = tq - aq
      and trace.dr = tr - ar
      and trace.crossed
      and (trace.of_start or trace.of_target)
  loop
    above := greatest(above, (
      select upper.level
      from public.hex as upper, public.hex as lower
      where upper.map_id = board
        and lower.map_id = board
        and (
          (upper.q, upper.r, lower.q, lower.r) = (aq + side.q1, ar + side.r1, aq + side.q2, ar + side.r2)
          or (upper.q, upper.r, lower.q, lower.r) = (aq + side.q2, ar + side.r2, aq + side.q1, ar + side.r1)
        )
        and upper.level > lower.level
        and (upper.q, upper.r) in ((aq, ar), (tq, tr))
    ));
  end loop;
  return above;
end
$$;

comment on function css._downhill(bigint, integer, integer, integer, integer) is
'The level of an end whose line crosses a steep slope of its own hex, which it stands above (6.2.2).';

create or replace function css._stands_above(level1 integer, level2 integer, end1 boolean, end2 boolean)
returns boolean
language sql immutable parallel safe
return level1 <> -99 and level2 <> -99 and ((level1 > level2 and end1) or (level2 > level1 and end2));

comment on function css._stands_above(integer, integer, boolean, boolean) is
'Of the two hexes of a steep slope, whether the higher is an end of the line (6.2.2); -99 is off the map.';

create or replace function css._spot(q integer, r integer)
returns bigint
language sql immutable parallel safe
return (q::bigint << 32) + r;

comment on function css._spot(integer, integer) is
'A hex as one number, to be looked for in a list of hexes.';

create or replace function css._marked(position_id bigint)
returns table (barraged bigint[], bombarded bigint[], burning bigint[], burnt bigint[], lit bigint[])
language sql stable parallel safe rows 1
as $$
  select
    array_agg(css._spot(marker.q, marker.r)) filter (where marker.kind in (
      'smoke_barrage', 'light_barrage', 'medium_barrage', 'heavy_barrage', 'bombardment'
    )),
    array_agg(css._spot(marker.q, marker.r)) filter (where marker.kind = 'bombardment'),
    array_agg(css._spot(marker.q, marker.r)) filter (where marker.kind = 'on_fire'),
    array_agg(css._spot(marker.q, marker.r)) filter (where marker.kind = 'fire_cleared'),
    array_agg(css._spot(marker.q, marker.r)) filter (where marker.kind = 'illumination')
  from public.marker
  where marker.position_id = _marked.position_id
    and marker.q is not null
$$;

comment on function css._marked(bigint) is
'Hexes whose markers bear on sight: barrages and bombardments, fires, burnt ground, illumination.';

create or replace function css._ground(terrain text, features text[])
returns text
language sql immutable parallel safe
return case when 'cave' = any(features) then 'rocky' else terrain end;

comment on function css._ground(text, text[]) is
'The terrain whose effects a hex has: outside of its cave a cave hex is rocky (6.3).';

create or replace function css._met(
  level integer,
  high integer,
  low integer,
  beside_low boolean,
  terrain text,
  printed text,
  barrage boolean,
  burns boolean,
  burnt boolean,
  above integer,
  readings jsonb
)
returns integer
language plpgsql immutable parallel safe
as $$
declare
  same boolean := high = low;
  sight text := printed;
  met integer := 0;
  low_cover boolean := false;
  overlooked boolean := false;
begin
  if level is null then
    return null;
  end if;
  -- 8.8.1: a fire blocks, and leaves clear ground behind
  if burns then
    sight := 'blocks';
    met := 64;
  elsif burnt then
    sight := 'open';
  elsif terrain = 'rice_paddy' and readings ->> 'css-12' = 'a' then
    sight := 'open';
  elsif terrain = 'sugar_cane' and sight is null and readings ->> 'css-54' = 'b' then
    sight := 'blocks_at_second';
  end if;
  -- 6.2.2: low cover before an end that looks down a steep slope (css-44)
  if above is not null and not burns and not burnt and terrain in ('brush', 'rocky', 'sugar_cane') then
    low_cover := readings ->> 'css-44' <> 'b';
    overlooked := readings ->> 'css-44' = 'c' and level <= above;
    met := met + 16384;
  end if;
  -- 8.7.2
  if barrage then
    met := met + 1;
  end if;
  if level > high then
    -- 7.1.2: higher than both ends
    met := met + 2;
  elsif level = high then
    -- 7.1.2 a: as high as the higher end
    if not same and not overlooked then
      met := met + 4;
    end if;
    if low_cover then
      met := met + 2048;
    -- 7.1.1 a: blocking terrain at the level of the higher end; below it, 7.1.2 e
    elsif sight = 'blocks' then
      met := met + 32;
    -- 7.1.1 c: one is seen through, the second is not
    elsif same and sight = 'blocks_at_second' then
      met := met + 128;
    -- what it does to sight is not printed
    elsif same and sight is null and not barrage then
      met := met + 256;
    end if;
    -- what css-12 and css-54 turn on
    if same and terrain = 'rice_paddy' then
      met := met + 512;
    elsif same and terrain = 'sugar_cane' then
      met := met + 8192;
    end if;
  else
    -- the opening words of 7.1.2 taken literally (css-43)
    if level > low then
      met := met + 4096;
      if readings ->> 'css-43' = 'a' and not overlooked then
        met := met + 16;
      end if;
    end if;
    if sight in ('blocks', 'blocks_at_second') then
      met := met + 1024;
    end if;
  end if;
  -- 7.1.2 b: beside the lower end and higher than it
  if not same and level > low and beside_low and not overlooked then
    met := met + 8;
  end if;
  return met;
end
$$;

comment on function css._met(
  integer, integer, integer, boolean, text, text, boolean, boolean, boolean, integer, jsonb
) is
'What a hex on the way is to the line, as bits: the low six (1 to 32) stop it, 128 thins it; the rest is told.';

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
'Whether a cell on the way stops the line.';

create or replace function css._point_of(met1 integer, met2 integer)
returns text
language sql immutable parallel safe
return case
  when (coalesce(met1, 0) | coalesce(met2, 0)) & 512 <> 0 then 'css-12'
  when (coalesce(met1, 0) | coalesce(met2, 0)) & 8192 <> 0 then 'css-54'
  when (coalesce(met1, 0) | coalesce(met2, 0)) & 16384 <> 0 then 'css-44'
end;

comment on function css._point_of(integer, integer) is
'The contested point that a cell on the way counts as brush by: rice paddy, sugar cane, the view from above.';

create or replace function css._untold(met1 integer, met2 integer)
returns boolean
language sql immutable parallel safe
return case
  when met1 is null or met2 is null then coalesce(met1, met2, 0) & 256 <> 0
  -- one side that is open, or at worst thin, is enough (7.1.1 b)
  else (met1 & 256 <> 0 and met2 & 319 <> 0) or (met2 & 256 <> 0 and met1 & 319 <> 0)
end;

comment on function css._untold(integer, integer) is
'Whether a cell on the way turns on terrain whose sight the rulebook does not print.';

create or replace function css._may_thin(met1 integer, met2 integer)
returns boolean
language sql immutable parallel safe
return coalesce((met1 & 256 <> 0 and met2 & 128 <> 0) or (met2 & 256 <> 0 and met1 & 128 <> 0), false);

comment on function css._may_thin(integer, integer) is
'Whether a cell on the way counts as brush at worst: sugar cane on the one side, brush on the other.';

create or replace function css._way(kind text, crossed boolean, beside boolean, corner text)
returns text
language sql immutable parallel safe
return case
  when kind = 'spine' then 'along'
  -- met at its end only (css-62)
  when kind = 'end' and not crossed and corner = 'a' then 'aside'
  when beside then 'beside'
  else 'across'
end;

comment on function css._way(text, boolean, boolean, text) is
'How a line meets a hexside: along it, aside at its end, beside an end of the line, or across it.';

create or replace function css._side_stops(cliff boolean, way text, of_cave boolean, overlooked boolean)
returns boolean
language sql immutable parallel safe
return coalesce(
  -- 7.1.2 d: along a blocking side; 6.3: out of a cave over any but a cliff
  way = 'along'
  or (of_cave and way <> 'aside' and not cliff)
  -- 6.2.2, 7.1.2 c: across one that belongs to neither end; a cliff may be overlooked (css-44)
  or (way = 'across' and not (overlooked and cliff)),
  false
);

comment on function css._side_stops(boolean, text, boolean, boolean) is
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
'Whether a cell on the way, which does not stop the line, counts as brush or rice paddy (7.1.1 c).';

create or replace function css._say(met integer, stops boolean, untold boolean, readings jsonb)
returns text[]
language sql immutable parallel safe
return case
  when stops then array_remove(array[
    case when met & 1 <> 0 then 'barrage' end,
    case when met & 96 = 96 then 'burns' when met & 32 <> 0 then 'screens' end,
    case when met & 2 <> 0 then 'towers' end,
    case when met & 4 <> 0 then 'rises' end,
    case when met & 8 <> 0 then 'hides' end,
    case when met & 16 <> 0 then 'stands' end
  ], null)
  else array_remove(array[
    case when met & 1024 <> 0 then 'below' end,
    case when met & 2048 <> 0 then 'downhill' end,
    case when met & 4096 <> 0 and readings ->> 'css-43' = 'b' then 'between' end,
    case when met & 512 <> 0 and readings ->> 'css-12' = 'a' then 'paddy_open' end,
    case when met & 256 <> 0 and untold then 'unprinted' end
  ], null)
end;

comment on function css._say(integer, boolean, boolean, jsonb) is
'What is said of the bits of css._met: every reason where the line is stopped, every excuse where it is not.';

create or replace function css._sight_rule(code text, same boolean, covered boolean)
returns text[]
language sql immutable parallel safe
return case code
  when 'barrage' then array['8.7.2', null, null]
  when 'burns' then array['8.8.1', null, case when covered then 'css-44' end]
  when 'screens' then array['7.1.1', 'a', case when covered then 'css-44' end]
  when 'towers' then array['7.1.2', null, case when covered then 'css-44' end]
  when 'rises' then array['7.1.2', 'a', case when covered then 'css-44' end]
  when 'hides' then array['7.1.2', 'b', case when covered then 'css-44' end]
  when 'stands' then array['7.1.2', null, 'css-43']
  when 'below' then case when same then array['7.1.1', 'a', null] else array['7.1.2', 'e', null] end
  when 'downhill' then array['6.2.2', null, 'css-44']
  when 'between' then array['7.1.2', null, 'css-43']
  when 'paddy_open' then array['6.2.1', null, 'css-12']
  when 'unprinted' then array['6.2.1', null, 'css-54']
end;

comment on function css._sight_rule(text, boolean, boolean) is
'The rule, its clause and the contested point behind something said by css._say.';

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
  readings jsonb;
  barraged bigint[];
  bombarded bigint[];
  burning bigint[];
  burnt bigint[];
  lit bigint[];
  high integer;
  low integer;
  lower integer[];
  looked_down boolean := false;
  met integer;
  met1 integer;
  met2 integer;
  stops boolean;
  untold boolean;
  code text;
  cited text[];
  features text[];
  feature text;
  way text;
  of_cave boolean;
  over_cliff boolean;
  spot text;
  corner_point text;
begin
  select
    position.map_id,
    coalesce(los.conditions, position.conditions) as conditions,
    coalesce(los.policy, position.policy) as policy,
    viewer.q as aq,
    viewer.r as ar,
    viewer.level::integer as alevel,
    false as a_in_cave,
    target.q as tq,
    target.r as tr,
    target.level::integer as tlevel,
    false as t_in_cave,
    null::jsonb as zone,
    ruleset.presets,
    exists (
      select from public.unit where unit.position_id = los.position_id and unit.code in (los."from", los."to")
    ) as names_units,
    exists (select from public.marker where marker.position_id = los.position_id) as marked
  into view
  from public.position
  inner join public.ruleset on ruleset.code = 'css'
  left join public.hex as viewer on viewer.map_id = position.map_id and viewer.label = los."from"
  left join public.hex as target on target.map_id = position.map_id and target.label = los."to"
  where position.id = los.position_id;
  -- units are asked for less often than hexes, and found before a hex of the same name
  if view.names_units then
    select
      viewer.q,
      viewer.r,
      viewer.level,
      coalesce((observer.attributes ->> 'in_cave')::boolean, false),
      target.q,
      target.r,
      target.level,
      coalesce((observed.attributes ->> 'in_cave')::boolean, false),
      observed.attributes -> 'zone'
    into
      view.aq, view.ar, view.alevel, view.a_in_cave, view.tq, view.tr, view.tlevel, view.t_in_cave, view.zone
    from positions.place(los.position_id, los."from") as observer
    cross join positions.place(los.position_id, los."to") as observed
    left join public.hex as viewer
      on viewer.map_id = view.map_id and viewer.q = observer.q and viewer.r = observer.r
    left join public.hex as target
      on target.map_id = view.map_id and target.q = observed.q and target.r = observed.r;
  end if;
  if view.zone is not null then
    -- 22.3.1: a naval zone is seen at its beach hex
    select place.q, place.r, hex.level
    into view.tq, view.tr, view.tlevel
    from positions.place(los.position_id, view.zone ->> 'beach') as place
    inner join public.hex on hex.map_id = view.map_id and hex.q = place.q and hex.r = place.r;
  end if;
  if view.aq is null or view.tq is null then
    raise exception 'no line of sight from % to %: one of them is not on the map', los."from", los."to"
      using errcode = 'no_data_found';
  end if;
  readings := view.presets || view.policy;
  if view.marked then
    select * into barraged, bombarded, burning, burnt, lit from css._marked(los.position_id);
  end if;
  away := lattice.distance(view.aq, view.ar, view.tq, view.tr);
  reach := css._visibility(view.conditions, css._spot(view.tq, view.tr) = any(lit));
  high := greatest(view.alevel, view.tlevel);
  low := least(view.alevel, view.tlevel);
  lower := case when view.tlevel < view.alevel then array[view.tq, view.tr] else array[view.aq, view.ar] end;

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
    note := case when reach = 1 then 'one hex can be seen now' else format('%s hexes can be seen now', reach) end;
    return next;
  end if;
  if away > 1 and css._spot(view.aq, view.ar) = any(barraged) then
    -- css-11: out of a barrage
    shut_in := readings ->> 'css-11' = 'a'
      or (readings ->> 'css-11' = 'c' and coalesce(css._spot(view.aq, view.ar) = any(bombarded), false));
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
      trace.kind,
      trace.crossed,
      trace.of_start,
      trace.of_target,
      trace.x + 2 * view.aq as x,
      trace.y + 2 * view.ar as y,
      view.aq + trace.q1 as q1,
      view.ar + trace.r1 as r1,
      view.aq + trace.q2 as q2,
      view.ar + trace.r2 as r2,
      one.label as label1,
      one.level as level1,
      ground.code as terrain1,
      ground.sight as sight1,
      null::text as label2,
      null::integer as level2,
      null::text as terrain2,
      null::text as sight2
    from lattice.trace
    -- a key that is null is looked up nowhere
    left join public.hex as one
      on one.map_id = view.map_id
        and one.q = case when trace.kind in ('hex', 'spine', 'touch') then view.aq + trace.q1 end
        and one.r = view.ar + trace.r1
    left join public.terrain as ground
      on ground.ruleset = 'css' and ground.code = css._ground(one.terrain, one.features)
    where trace.dq = view.tq - view.aq
      and trace.dr = view.tr - view.ar
      and (
        trace.kind in ('hex', 'spine', 'touch')
        or (trace.kind = 'end' and trace.crossed)
        -- a look-up for each: `exists` would first read the hexsides of the whole map
        or (
          select true
          from public.hexside
          where hexside.map_id = view.map_id
            and hexside.x = 2 * view.aq + trace.x
            and hexside.y = 2 * view.ar + trace.y
          limit 1
        )
      )
    order by trace.n
  loop
    features := '{}';
    if cell.kind in ('side', 'spine', 'end') then
      features := array(
        select hexside.kind
        from public.hexside
        where hexside.map_id = view.map_id
          and hexside.x = cell.x
          and hexside.y = cell.y
          and hexside.kind in ('slope', 'steep_slope', 'ridge', 'cliff')
      );
    end if;
    if features = '{}' and (cell.kind = 'side' or (cell.kind = 'end' and not cell.crossed)) then
      continue;
    end if;
    if cell.kind = 'spine' then
      select
        hex.label,
        hex.level,
        terrain.code,
        terrain.sight
      into cell.label2, cell.level2, cell.terrain2, cell.sight2
      from public.hex
      inner join public.terrain
        on terrain.ruleset = 'css' and terrain.code = css._ground(hex.terrain, hex.features)
      where hex.map_id = view.map_id
        and hex.q = cell.q2
        and hex.r = cell.r2;
    end if;
    -- 6.2.2: whether an end looks down matters to low cover and cliffs only
    if not looked_down
      and (
        'cliff' = any(features)
        or cell.terrain1 in ('brush', 'rocky', 'sugar_cane')
        or cell.terrain2 in ('brush', 'rocky', 'sugar_cane')
      ) then
      above := css._downhill(view.map_id, view.aq, view.ar, view.tq, view.tr);
      looked_down := true;
    end if;
    if cell.kind in ('side', 'end') then
      cell.label1 := (
        select hex.label from public.hex where hex.map_id = view.map_id and hex.q = cell.q1 and hex.r = cell.r1
      );
      cell.label2 := (
        select hex.label from public.hex where hex.map_id = view.map_id and hex.q = cell.q2 and hex.r = cell.r2
      );
    end if;
    spot := case when cell.kind = 'hex' then cell.label1 else positions.side_label(cell.label1, cell.label2) end;
    corner_point := case when cell.kind = 'touch' or cell.kind = 'end' then 'css-62' end;
    foreach feature in array features loop
      if cell.kind = 'end' then
        rule := '6.2.2';
        clause := null;
        at := spot;
        effect := 'graze';
        note := css._sight_note(cell.kind, effect, spot, null);
        point := corner_point;
        return next;
      end if;
      way := css._way(cell.kind, cell.crossed, cell.of_start or cell.of_target, readings ->> 'css-62');
      of_cave := (view.a_in_cave and cell.of_start) or (view.t_in_cave and cell.of_target);
      over_cliff := feature = 'cliff' and way = 'across' and above is not null and readings ->> 'css-44' <> 'b';
      effect := case
        when css._side_stops(feature = 'cliff', way, of_cave, over_cliff) then 'blocks'
        else 'passes'
      end;
      rule := case
        when way = 'along' then '7.1.2'
        when of_cave and way <> 'aside' and feature <> 'cliff' then '6.3'
        when high = low or over_cliff then '6.2.2'
        else '7.1.2'
      end;
      clause := case when way = 'along' then 'd' when rule = '7.1.2' then 'c' end;
      at := spot;
      note := css._sight_note(feature, effect, spot, null);
      point := case
        when feature = 'cliff' and way = 'across' and above is not null then 'css-44'
        else corner_point
      end;
      stopped := stopped or effect = 'blocks';
      return next;
    end loop;
    if cell.kind in ('spine', 'touch') or (cell.kind = 'end' and features = '{}') then
      rule := case when cell.kind = 'end' then '6.2.2' else '7.1.1' end;
      clause := case when cell.kind = 'spine' then 'b' end;
      at := spot;
      effect := 'graze';
      note := css._sight_note(cell.kind, effect, spot, null);
      point := corner_point;
      return next;
    end if;
    if cell.kind in ('side', 'end') then
      continue;
    end if;
    met1 := case
      when cell.kind <> 'touch' or readings ->> 'css-62' = 'b' then css._met(
        cell.level1, high, low, lattice.distance(cell.q1, cell.r1, lower[1], lower[2]) = 1, cell.terrain1, cell.sight1,
        coalesce(css._spot(cell.q1, cell.r1) = any(barraged), false),
        coalesce(css._spot(cell.q1, cell.r1) = any(burning), false),
        coalesce(css._spot(cell.q1, cell.r1) = any(burnt), false), above, readings
      )
    end;
    met2 := case
      when cell.kind = 'spine' then css._met(
        cell.level2, high, low, lattice.distance(cell.q2, cell.r2, lower[1], lower[2]) = 1, cell.terrain2, cell.sight2,
        coalesce(css._spot(cell.q2, cell.r2) = any(barraged), false),
        coalesce(css._spot(cell.q2, cell.r2) = any(burning), false),
        coalesce(css._spot(cell.q2, cell.r2) = any(burnt), false), above, readings
      )
    end;
    if met1 = 0 and coalesce(met2, 0) = 0 then
      continue;
    end if;
    stops := css._stops(cell.kind, met1, met2);
    untold := css._untold(met1, met2);
    if stops then
      stopped := true;
      if met1 is null and met2 is null then
        rule := '7.1.1';
        clause := null;
        at := null;
        effect := 'blocks';
        note := 'the line leaves the map';
        point := null;
        return next;
      end if;
    elsif css._thins(met1, met2) then
      seen := seen + 1;
      stopped := stopped or seen > 1;
      rule := '7.1.1';
      clause := 'c';
      at := spot;
      effect := case when seen > 1 then 'blocks' else 'passes' end;
      note := css._sight_note(case when seen > 1 then 'second' else 'first' end, effect, spot, null);
      point := coalesce(css._point_of(met1, met2), corner_point);
      return next;
    elsif css._may_thin(met1, met2) then
      possible := possible + 1;
      rule := '7.1.1';
      clause := 'c';
      at := spot;
      effect := 'passes';
      note := 'at worst a brush that is seen through';
      point := 'css-54';
      maybe := spot;
      return next;
    elsif not untold and (coalesce(met1, 0) | coalesce(met2, 0)) & 447 <> 0 then
      rule := '7.1.1';
      clause := 'b';
      at := spot;
      effect := 'passes';
      note := 'one side of the spine is clear';
      point := css._point_of(met1, met2);
      return next;
    end if;
    for side in 1..2 loop
      met := case side when 1 then met1 else met2 end;
      if met <> 0 then
        at := case side when 1 then cell.label1 else cell.label2 end;
        foreach code in array css._say(met, stops, untold, readings) loop
          cited := css._sight_rule(code, high = low, met & 16384 <> 0);
          rule := cited[1];
          clause := cited[2];
          point := coalesce(cited[3], corner_point);
          effect := case when stops then 'blocks' when code = 'unprinted' then 'unknown' else 'passes' end;
          note := css._sight_note(
            code, effect, at, case side when 1 then cell.terrain1 else cell.terrain2 end
          );
          unknown := unknown or effect = 'unknown';
          return next;
        end loop;
      end if;
    end loop;
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
