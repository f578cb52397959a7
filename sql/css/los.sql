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

create or replace function css._hexes(n integer)
returns text
language sql immutable parallel safe
return case n when 1 then 'one hex' else n || ' hexes' end;

comment on function css._hexes(integer) is
'So many hexes, in words.';

create or replace function css._visibility_rule(conditions jsonb)
returns text
language sql immutable parallel safe
return case when conditions ->> 'time' = 'night' then '17.0' else '7.1.2' end;

comment on function css._visibility_rule(jsonb) is
'The rule that says how far is seen now, but for lit hexes.';

create or replace function css._stands_above(level1 integer, level2 integer, end1 boolean, end2 boolean)
returns boolean
language sql immutable parallel safe
return level1 <> -99 and level2 <> -99 and ((level1 > level2 and end1) or (level2 > level1 and end2));

comment on function css._stands_above(integer, integer, boolean, boolean) is
'Of the two hexes of a steep slope, whether the higher is an end of the line (6.2.2); -99 is off the map.';

create or replace function css._downhill(board bigint, aq integer, ar integer, tq integer, tr integer)
returns integer
language plpgsql stable parallel safe
as $$
begin
  return (
    select max(greatest(one.level, two.level))
    from lattice.trace
    inner join public.hexside
      on hexside.map_id = board
        and hexside.x = 2 * aq + trace.x
        and hexside.y = 2 * ar + trace.y
        and hexside.kind = 'steep_slope'
    inner join public.hex as one
      on one.map_id = board and one.q = aq + trace.q1 and one.r = ar + trace.r1
    inner join public.hex as two
      on two.map_id = board and two.q = aq + trace.q2 and two.r = ar + trace.r2
    where trace.dq = tq - aq
      and trace.dr = tr - ar
      and trace.crossed
      and (trace.of_start or trace.of_target)
      and css._stands_above(
        one.level, two.level,
        (one.q, one.r) in ((aq, ar), (tq, tr)), (two.q, two.r) in ((aq, ar), (tq, tr))
      )
  );
end
$$;

comment on function css._downhill(bigint, integer, integer, integer, integer) is
'The level of an end whose line crosses a steep slope of its own hex, which it stands above (6.2.2).';

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

create or replace function css._sight(printed text, terrain text, burns boolean, burnt boolean, readings jsonb)
returns text
language sql immutable parallel safe
return case
  -- 8.8.1: a fire blocks, and leaves clear ground behind
  when burns then 'blocks'
  when burnt then 'open'
  when terrain = 'rice_paddy' and readings ->> 'css-12' = 'a' then 'open'
  when terrain = 'sugar_cane' and printed is null and readings ->> 'css-54' = 'b' then 'blocks_at_second'
  else printed
end;

comment on function css._sight(text, text, boolean, boolean, jsonb) is
'What the ground of a hex does to sight now: as printed, unless it burns, is burnt, or is read otherwise.';

create or replace function css._cover(
  level integer, terrain text, burns boolean, burnt boolean, above integer, readings jsonb
)
returns text
language sql immutable parallel safe
return case
  when above is null or burns or burnt or terrain not in ('brush', 'rocky', 'sugar_cane') then null
  when readings ->> 'css-44' = 'b' then 'counts'
  when readings ->> 'css-44' = 'c' and level <= above then 'overlooked'
  else 'low'
end;

comment on function css._cover(integer, text, boolean, boolean, integer, jsonb) is
'Low cover before an end that looks down a steep slope (6.2.2), as css-44 is read; null is no such cover.';

-- Inlined into the queries that judge: its arguments are columns, so that nothing is worked out twice.
create or replace function css._met(
  level integer,
  high integer,
  low integer,
  beside_low boolean,
  terrain text,
  sight text,
  cover text,
  barrage boolean,
  burns boolean,
  literal boolean
)
returns integer
language sql immutable parallel safe
return case when level is not null then
-- 8.7.2
case when barrage then 1 else 0 end
+ case
  -- 7.1.2: higher than both ends
  when level > high then 2
  when level = high
    then
      -- 7.1.2 a: as high as the higher end
      case when high = low or cover = 'overlooked' then 0 else 4 end
      + case
        when cover in ('low', 'overlooked') then 2048
        -- 7.1.1 a: blocking terrain at the level of the higher end; below it, 7.1.2 e
        when sight = 'blocks' then 32
        when high <> low then 0
        -- 7.1.1 c: one is seen through, the second is not
        when sight = 'blocks_at_second' then 128
        -- what it does to sight is not printed
        when sight is null and not barrage then 256
        else 0
      end
      -- what css-12 and css-54 turn on
      + case
        when high <> low then 0
        when terrain = 'rice_paddy' then 512
        when terrain = 'sugar_cane' then 8192
        else 0
      end
  else
    -- the opening words of 7.1.2 taken literally (css-43)
    case
      when level <= low then 0
      when literal and cover is distinct from 'overlooked' then 4096 + 16
      else 4096
    end
    + case when sight in ('blocks', 'blocks_at_second') then 1024 else 0 end
end
-- 7.1.2 b: beside the lower end and higher than it
+ case when high <> low and level > low and beside_low and cover is distinct from 'overlooked' then 8 else 0 end
+ case when burns then 64 else 0 end
+ case when cover is not null then 16384 else 0 end
end;

comment on function css._met(
  integer, integer, integer, boolean, text, text, text, boolean, boolean, boolean
) is
'What a hex on the way is to the line, as bits: the low six (1 to 32) stop it, 128 thins it; the rest is told.';

create or replace function css._met_at(
  q integer,
  r integer,
  level integer,
  high integer,
  low integer,
  lower integer[],
  terrain text,
  printed text,
  barraged bigint[],
  burning bigint[],
  burnt bigint[],
  above integer,
  readings jsonb
)
returns integer
language plpgsql immutable parallel safe
as $$
declare
  burns boolean := coalesce(css._spot(q, r) = any(burning), false);
  is_burnt boolean := coalesce(css._spot(q, r) = any(burnt), false);
  sight text := css._sight(printed, terrain, burns, is_burnt, readings);
  cover text := css._cover(level, terrain, burns, is_burnt, above, readings);
begin
  return css._met(
    level, high, low, lattice.distance(q, r, lower[1], lower[2]) = 1, terrain, sight, cover,
    coalesce(css._spot(q, r) = any(barraged), false), burns, readings ->> 'css-43' = 'a'
  );
end
$$;

comment on function css._met_at(
  integer, integer, integer, integer, integer, integer[], text, text, bigint[], bigint[], bigint[], integer, jsonb
) is
'css._met for a hex of one line, from the markers around and the readings in force.';

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

create or replace view css.saying as
select
  saying.n,
  saying.rule,
  saying.clause,
  saying.effect,
  saying.point,
  saying.note
from (
  values
  -- of a hex that stops the line
  (1, '8.7.2', null, 'blocks', null, '%1$s lies under a barrage, which no line passes'),
  (2, '8.8.1', null, 'blocks', null, '%1$s burns'),
  (3, '7.1.1', 'a', 'blocks', null, '%1$s is %2$s at the level of the higher end'),
  (4, '7.1.2', null, 'blocks', null, '%1$s is higher than both ends'),
  (5, '7.1.2', 'a', 'blocks', null, '%1$s is as high as the higher end'),
  (6, '7.1.2', 'b', 'blocks', null, '%1$s is higher than the lower end beside it: a blind spot'),
  (7, '7.1.2', null, 'blocks', 'css-43', '%1$s is higher than the lower end'),
  -- of one that does not
  (8, '7.1.1', 'a', 'passes', null, '%1$s is %2$s on lower ground'),
  (9, '7.1.2', 'e', 'passes', null, '%1$s is %2$s on lower ground'),
  (10, '6.2.2', null, 'passes', 'css-44', '%1$s is seen over from above a steep slope'),
  (11, '7.1.2', null, 'passes', 'css-43', '%1$s rises above the lower end, but not beside it nor to the higher'),
  (12, '6.2.1', null, 'passes', 'css-12', 'a rice paddy is open'),
  (13, '6.2.1', null, 'unknown', 'css-54', 'what %2$s does to sight is not printed'),
  -- of a hex or a spine as a whole
  (14, '7.1.1', null, 'blocks', null, 'the line leaves the map'),
  (15, '7.1.1', 'c', 'passes', null, '%1$s, the first brush or rice paddy, is seen through'),
  (16, '7.1.1', 'c', 'blocks', null, '%1$s, the second brush or rice paddy, is not seen through'),
  (17, '7.1.1', 'c', 'passes', 'css-54', 'at worst a brush that is seen through'),
  (18, '7.1.1', 'b', 'passes', null, 'one side of the spine is clear'),
  -- of a line that grazes
  (19, '7.1.1', 'b', 'graze', null, 'the line runs along this side'),
  (20, '7.1.1', null, 'graze', 'css-62', 'the line meets this hex in a corner point only'),
  (21, '6.2.2', null, 'graze', 'css-62', 'the line meets this side at its end')
) as saying (n, rule, clause, effect, point, note);

comment on view css.saying is
'All that a line of sight says of a hex: rule, clause, effect, contested point and words, by number.';
comment on column css.saying.n is 'Number, as css._say gives it';
comment on column css.saying.rule is 'The rule that speaks';
comment on column css.saying.clause is 'Its lettered item';
comment on column css.saying.effect is 'blocks, passes, graze or unknown';
comment on column css.saying.point is 'The contested point it always turns on';
comment on column css.saying.note is 'What is said: 1 stands for the place, 2 for its terrain';

-- Told once, when a plan is made: for these arguments, what it returns stands in the plan as a constant.
create or replace function css._sayings(what text)
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return (select array_agg(to_jsonb(saying) ->> what order by saying.n) from css.saying);
end
$$;

comment on function css._sayings(text) is
'A column of css.saying as a list, to be looked up by number.';

drop type if exists css.sight cascade;
create type css.sight as (
  rule text, clause text, at text, effect text, note text, point text, range integer
);

comment on type css.sight is
'A row of css.los.';

create or replace function css._tell(saying integer, at text, terrain text, point text, range integer)
returns css.sight
language plpgsql immutable parallel safe
as $$
begin
  return row(
    (css._sayings('rule'))[saying],
    (css._sayings('clause'))[saying],
    at,
    (css._sayings('effect'))[saying],
    format((css._sayings('note'))[saying], at, replace(terrain, '_', ' ')),
    coalesce((css._sayings('point'))[saying], point),
    range
  )::css.sight;
end
$$;

comment on function css._tell(integer, text, text, text, integer) is
'A saying about a place as a row of css.los; a contested point that it always turns on goes before the given one.';

create or replace function css._say(met integer, stops boolean, untold boolean, same boolean, readings jsonb)
returns integer[]
language sql immutable parallel safe
return case
  when stops then array_remove(array[
    case when met & 1 <> 0 then 1 end,
    case when met & 96 = 96 then 2 when met & 32 <> 0 then 3 end,
    case when met & 2 <> 0 then 4 end,
    case when met & 4 <> 0 then 5 end,
    case when met & 8 <> 0 then 6 end,
    case when met & 16 <> 0 then 7 end
  ], null)
  else array_remove(array[
    case when met & 1024 <> 0 then case when same then 8 else 9 end end,
    case when met & 2048 <> 0 then 10 end,
    case when met & 4096 <> 0 and readings ->> 'css-43' = 'b' then 11 end,
    case when met & 512 <> 0 and readings ->> 'css-12' = 'a' then 12 end,
    case when met & 256 <> 0 and untold then 13 end
  ], null)
end;

comment on function css._say(integer, boolean, boolean, boolean, jsonb) is
'What is said of the bits of css._met, by number: every reason where the line is stopped, every excuse where it is not.';

drop type if exists css.sighting cascade;
create type css.sighting as (
  map_id bigint,
  conditions jsonb,
  readings jsonb,
  aq integer,
  ar integer,
  alevel integer,
  a_in_cave boolean,
  tq integer,
  tr integer,
  tlevel integer,
  t_in_cave boolean,
  zone jsonb,
  marked boolean
);

comment on type css.sighting is
'The two ends of a line of sight (a, the viewer, and t, the target), and what holds on its map.';

-- Asked by css._los, whose settings hold here, too.
create or replace function css._sighting(
  position_id bigint, "from" text, "to" text, conditions jsonb, policy jsonb
)
returns css.sighting
language plpgsql stable
as $$
declare
  view record;
begin
  select
    position.map_id,
    coalesce(_sighting.conditions, position.conditions) as conditions,
    ruleset.presets || coalesce(_sighting.policy, position.policy) as readings,
    viewer.q as aq,
    viewer.r as ar,
    viewer.level::integer as alevel,
    false as a_in_cave,
    target.q as tq,
    target.r as tr,
    target.level::integer as tlevel,
    false as t_in_cave,
    null::jsonb as zone,
    exists (
      select from public.unit
      where unit.position_id = _sighting.position_id and unit.code in (_sighting."from", _sighting."to")
    ) as names_units,
    exists (select from public.marker where marker.position_id = _sighting.position_id) as marked
  into view
  from public.position
  inner join public.ruleset on ruleset.code = 'css'
  left join public.hex as viewer on viewer.map_id = position.map_id and viewer.label = _sighting."from"
  left join public.hex as target on target.map_id = position.map_id and target.label = _sighting."to"
  where position.id = _sighting.position_id;
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
    from positions.place(_sighting.position_id, _sighting."from") as observer
    cross join positions.place(_sighting.position_id, _sighting."to") as observed
    left join public.hex as viewer
      on viewer.map_id = view.map_id and viewer.q = observer.q and viewer.r = observer.r
    left join public.hex as target
      on target.map_id = view.map_id and target.q = observed.q and target.r = observed.r;
  end if;
  if view.zone is not null then
    -- 22.3.1: a naval zone is seen at its beach hex
    select place.q, place.r, hex.level
    into view.tq, view.tr, view.tlevel
    from positions.place(_sighting.position_id, view.zone ->> 'beach') as place
    inner join public.hex on hex.map_id = view.map_id and hex.q = place.q and hex.r = place.r;
  end if;
  if view.aq is null or view.tq is null then
    raise exception 'no line of sight from % to %: one of them is not on the map', _sighting."from", _sighting."to"
      using errcode = 'no_data_found';
  end if;
  return row(
    view.map_id, view.conditions, view.readings, view.aq, view.ar, view.alevel, view.a_in_cave,
    view.tq, view.tr, view.tlevel, view.t_in_cave, view.zone, view.marked
  )::css.sighting;
end
$$;

comment on function css._sighting(bigint, text, text, jsonb, jsonb) is
'The ends of a line of sight by the names asked, with the conditions and readings in force.';

create or replace function css._naval_hexes(run text)
returns integer
language sql immutable parallel safe
return case run when 'final_run_in' then 1 when 'approach' then 3 end;

comment on function css._naval_hexes(text) is
'How many hexes a naval zone is off its beach; null is out of all range (22.3.1).';

create or replace function css._naval_effect(run text)
returns text
language sql immutable parallel safe
return coalesce('+' || css._naval_hexes(run), 'out of range');

comment on function css._naval_effect(text) is
'What a naval zone does to a range counted to its beach (22.3.1).';

create or replace function css._los(
  position_id bigint, "from" text, "to" text, conditions jsonb, policy jsonb
)
returns setof css.sight
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  view css.sighting := css._sighting(_los.position_id, _los."from", _los."to", _los.conditions, _los.policy);
  away integer := lattice.distance(view.aq, view.ar, view.tq, view.tr);
  high integer := greatest(view.alevel, view.tlevel);
  low integer := least(view.alevel, view.tlevel);
  lower integer[] := case
    when view.tlevel < view.alevel then array[view.tq, view.tr] else array[view.aq, view.ar]
  end;
  barraged bigint[];
  bombarded bigint[];
  burning bigint[];
  burnt bigint[];
  lit bigint[];
  reach integer;
  shut_in boolean;
  cell record;
  told integer;
  spot text;
  way text;
  of_cave boolean;
  over_cliff boolean;
  blocks boolean;
  above integer;
  looked_down boolean := false;
  met1 integer;
  met2 integer;
  stops boolean;
  untold boolean;
  saying integer;
  seen integer := 0;
  possible integer := 0;
  maybe text;
  stopped boolean := false;
  unknown boolean := false;
begin
  if view.marked then
    select * into barraged, bombarded, burning, burnt, lit from css._marked(_los.position_id);
  end if;

  -- css-64: 7.1.2 spots who is at sea, whatever lies between
  if view.zone is not null and view.readings ->> 'css-64' = 'b' then
    return next row(
      '7.1.2', null, _los."to", 'passes', 'a unit in a sea zone is always spotted', 'css-64', away
    )::css.sight;
    return next row(
      '22.3.1', null, view.zone ->> 'beach', css._naval_effect(view.zone ->> 'run'),
      'the range of a naval zone is counted at the beach hex', null, away
    )::css.sight;
    away := away + css._naval_hexes(view.zone ->> 'run');
    return next row('7.1.2', null, _los."to", 'visible', 'nothing hides it', null, away)::css.sight;
    return;
  end if;

  -- what the whole line is subject to
  reach := css._visibility(view.conditions, css._spot(view.tq, view.tr) = any(lit));
  if away = 0 and view.a_in_cave <> view.t_in_cave then
    return next row('6.3', null, _los."to", 'passes', 'the same hex is always seen', null, away)::css.sight;
  elsif away = 1 then
    return next row('7.1.2', null, _los."to", 'passes', 'an adjacent hex is always seen', null, away)::css.sight;
  elsif away > reach or (away > 1 and (reach < 8 or view.conditions ->> 'time' = 'night')) then
    stopped := away > reach;
    return next row(
      case
        when view.conditions ->> 'time' = 'night' and reach > 1 then '8.7.3'
        else css._visibility_rule(view.conditions)
      end,
      null,
      _los."to",
      case when stopped then 'blocks' else 'passes' end,
      css._hexes(reach) || ' can be seen now',
      null,
      away
    )::css.sight;
  end if;
  if away > 1 and css._spot(view.aq, view.ar) = any(barraged) then
    -- css-11: out of a barrage
    shut_in := view.readings ->> 'css-11' = 'a'
      or (view.readings ->> 'css-11' = 'c' and coalesce(css._spot(view.aq, view.ar) = any(bombarded), false));
    stopped := stopped or shut_in;
    return next row(
      case when shut_in then '7.1.2' else '8.7.2' end,
      null,
      _los."from",
      case when shut_in then 'blocks' else 'passes' end,
      case
        when shut_in then 'under a barrage or bombardment only adjacent hexes are seen'
        else 'out of a barrage sight is normal'
      end,
      'css-11',
      away
    )::css.sight;
  end if;

  -- what it meets on its way; a side with two features comes twice
  for cell in
    select
      trace.n,
      trace.kind,
      trace.crossed,
      trace.of_start,
      trace.of_target,
      view.aq + trace.q1 as q1,
      view.ar + trace.r1 as r1,
      view.aq + trace.q2 as q2,
      view.ar + trace.r2 as r2,
      hexside.kind as feature,
      one.label as label1,
      one.level as level1,
      ground.code as terrain1,
      ground.sight as printed1,
      two.label as label2,
      two.level as level2,
      css._ground(two.terrain, two.features) as terrain2
    from lattice.trace
    -- a key that is null is looked up nowhere
    left join public.hexside
      on hexside.map_id = view.map_id
        and hexside.x = case when trace.kind in ('side', 'spine', 'end') then 2 * view.aq + trace.x end
        and hexside.y = 2 * view.ar + trace.y
        and hexside.kind in ('slope', 'steep_slope', 'ridge', 'cliff')
    left join public.hex as one
      on one.map_id = view.map_id
        and one.q = case
          when hexside.kind is not null or trace.kind <> 'side' and (trace.kind <> 'end' or trace.crossed)
            then view.aq + trace.q1
        end
        and one.r = view.ar + trace.r1
    left join public.terrain as ground
      on ground.ruleset = 'css'
        and ground.code = case
          when trace.kind in ('hex', 'spine', 'touch') then css._ground(one.terrain, one.features)
        end
    left join public.hex as two
      on two.map_id = view.map_id
        and two.q = case when trace.kind in ('spine', 'side', 'end') then view.aq + trace.q2 end
        and two.r = view.ar + trace.r2
    where trace.dq = view.tq - view.aq
      and trace.dr = view.tr - view.ar
      -- a side without a feature says nothing, nor does low open ground
      and case trace.kind
        when 'hex'
          then view.marked or one.level is null or one.level > low or ground.sight is distinct from 'open'
        when 'side' then hexside.kind is not null
        when 'end' then hexside.kind is not null or trace.crossed
        else true
      end
    order by trace.n
  loop
    spot := case
      when cell.kind = 'hex' then cell.label1
      else positions.side_label(cell.label1, cell.label2)
    end;
    if cell.kind in ('spine', 'touch', 'end') and told is distinct from cell.n then
      return next css._tell(
        case cell.kind when 'spine' then 19 when 'touch' then 20 else 21 end, spot, null, null, away
      );
    end if;
    -- 6.2.2: whether an end looks down matters to low cover and cliffs only
    if not looked_down
      and (
        cell.feature = 'cliff'
        or cell.terrain1 in ('brush', 'rocky', 'sugar_cane')
        or (cell.kind = 'spine' and cell.terrain2 in ('brush', 'rocky', 'sugar_cane'))
      ) then
      above := css._downhill(view.map_id, view.aq, view.ar, view.tq, view.tr);
      looked_down := true;
    end if;
    if cell.feature is not null then
      way := css._way(
        cell.kind, cell.crossed, cell.of_start or cell.of_target, view.readings ->> 'css-62'
      );
      of_cave := (view.a_in_cave and cell.of_start) or (view.t_in_cave and cell.of_target);
      over_cliff := cell.feature = 'cliff'
        and way = 'across'
        and above is not null
        and view.readings ->> 'css-44' <> 'b';
      blocks := css._side_stops(cell.feature = 'cliff', way, of_cave, over_cliff);
      stopped := stopped or blocks;
      -- 6.3: out of a cave over any side but a cliff
      of_cave := of_cave and way <> 'aside' and cell.feature <> 'cliff';
      return next row(
        case
          when way = 'along' then '7.1.2'
          when of_cave then '6.3'
          when high = low or over_cliff then '6.2.2'
          else '7.1.2'
        end,
        case when way = 'along' then 'd' when not (of_cave or high = low or over_cliff) then 'c' end,
        spot,
        case when blocks then 'blocks' else 'passes' end,
        format(
          case when blocks then 'a %s in the way' else 'a %s that does not hide what lies beyond' end,
          replace(cell.feature, '_', ' ')
        ),
        case
          when cell.feature = 'cliff' and way = 'across' and above is not null then 'css-44'
          when cell.kind = 'end' then 'css-62'
        end,
        away
      )::css.sight;
    end if;
    continue when cell.kind in ('side', 'end') or told = cell.n;
    told := cell.n;
    met1 := case
      when cell.kind <> 'touch' or view.readings ->> 'css-62' = 'b'
        then css._met_at(
          cell.q1, cell.r1, cell.level1, high, low, lower, cell.terrain1, cell.printed1,
          barraged, burning, burnt, above, view.readings
        )
    end;
    met2 := case
      when cell.kind = 'spine'
        then css._met_at(
          cell.q2, cell.r2, cell.level2, high, low, lower, cell.terrain2,
          (select terrain.sight from public.terrain where terrain.ruleset = 'css' and terrain.code = cell.terrain2),
          barraged, burning, burnt, above, view.readings
        )
    end;
    stops := css._stops(cell.kind, met1, met2);
    untold := css._untold(met1, met2);
    saying := case
      when stops then case when met1 is null and met2 is null then 14 end
      when css._thins(met1, met2) then case when seen > 0 then 16 else 15 end
      when css._may_thin(met1, met2) then 17
      when not untold and (coalesce(met1, 0) | coalesce(met2, 0)) & 447 <> 0 then 18
    end;
    if saying is not null then
      if saying in (15, 16) then
        seen := seen + 1;
      elsif saying = 17 then
        possible := possible + 1;
        maybe := spot;
      end if;
      return next css._tell(
        saying,
        spot,
        null,
        coalesce(css._point_of(met1, met2), case when cell.kind = 'touch' then 'css-62' end),
        away
      );
    end if;
    stopped := stopped or stops or seen > 1;
    unknown := unknown or untold;
    if met1 <> 0 then
      foreach saying in array css._say(met1, stops, untold, high = low, view.readings) loop
        return next css._tell(
          saying,
          cell.label1,
          cell.terrain1,
          case
            when saying between 2 and 6 and met1 & 16384 <> 0 then 'css-44'
            when cell.kind = 'touch' then 'css-62'
          end,
          away
        );
      end loop;
    end if;
    if met2 <> 0 then
      foreach saying in array css._say(met2, stops, untold, high = low, view.readings) loop
        return next css._tell(
          saying, cell.label2, cell.terrain2,
          case when saying between 2 and 6 and met2 & 16384 <> 0 then 'css-44' end, away
        );
      end loop;
    end if;
  end loop;
  if seen < 2 and seen + possible > 1 then
    unknown := true;
    return next css._tell(13, maybe, 'sugar_cane', null, away);
  end if;

  -- what it comes to
  if view.zone is not null then
    return next row(
      '22.3.1',
      null,
      view.zone ->> 'beach',
      css._naval_effect(view.zone ->> 'run'),
      'a naval zone is seen, and its range counted, at the beach hex',
      'css-64',
      away
    )::css.sight;
    away := away + css._naval_hexes(view.zone ->> 'run');
  elsif away = 0 and view.a_in_cave <> view.t_in_cave then
    away := 1;
  end if;
  return next row(
    '7.1.1',
    null,
    _los."to",
    case when stopped then 'blocked' when unknown then 'unknown' else 'visible' end,
    case
      when stopped then 'the line of sight is blocked'
      when unknown then 'the rulebook does not print what would decide it'
      else 'nothing stops the line of sight'
    end,
    null,
    away
  )::css.sight;
end
$$;

comment on function css._los(bigint, text, text, jsonb, jsonb) is
'The rows of css.los.';

create or replace function css.los(
  position_id bigint,
  "from" text,
  "to" text,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (rule text, clause text, at text, effect text, note text, point text, range integer)
language sql stable rows 8
as $$
  select
    told.rule,
    told.clause,
    told.at,
    told.effect,
    told.note,
    told.point,
    told.range
  from css._los(los.position_id, los."from", los."to", los.conditions, los.policy) as told
$$;

comment on function css.los(bigint, text, text, jsonb, jsonb) is
'Whether one hex or unit sees another: a row for every rule that speaks, the verdict last.';
