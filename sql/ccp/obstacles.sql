-- needs: lattice/trace.sql, ccp/hills.sql
-- All that a ccp line of sight meets between its end hexes: 16.1 to 16.3, T81.4 to T99.
--
-- A row a thing: drawn areas, hexes taken as filled, smoke, blazes, crest lines, ground above the ends.
--
-- Exactness. Where the line enters and leaves a hex is a rational over the denominator of its
-- trace. Blown up by that denominator, those points are integers and the artwork stays on its
-- grid, so that ST_Relate of a piece of the line with an area decides without rounding.

create or replace function ccp._screens()
returns table (terrain text, hindrance integer)
language sql stable parallel safe rows 8
as $$
  select
    terrain.code,
    effect.halves / 2
  from public.terrain
  left join public.terrain_effect as effect
    on effect.ruleset = terrain.ruleset
      and effect.feature = 'terrain'
      and effect.code = terrain.code
      and effect.aspect = 'hindrance'
  where terrain.ruleset = 'ccp'
    and terrain.sight in ('blocks', 'hinders')
$$;

comment on function ccp._screens() is
'Terrain that bears on sight: a Hindrance with its number, an Obstacle without (T81.4).';

create or replace function ccp._met(
  position_id bigint, map_id bigint, aq integer, ar integer, tqs integer[], trs integer[], floors integer[]
)
returns table (
  i integer,
  n integer,
  kind text,
  q integer,
  r integer,
  label text,
  level integer,
  enter bigint,
  leave bigint,
  den bigint,
  what text,
  terrain text,
  area integer,
  value integer,
  inside boolean
)
language sql stable parallel safe rows 500
as $$
  with goal as materialized (
    select
      target.i::integer as i,
      target.floor,
      public.st_makeline(lattice.center(_met.aq, _met.ar), lattice.center(target.q, target.r)) as ray,
      target.q,
      target.r,
      3 * _met.aq as x,
      2 * _met.ar + _met.aq as y,
      3 * (target.q - _met.aq) as dx,
      2 * (target.r - _met.ar) + target.q - _met.aq as dy,
      edge.first,
      edge.last
    from unnest(_met.tqs, _met.trs, _met.floors) with ordinality as target (q, r, floor, i)
    cross join lateral (
      select
        min(line.enter) as first,
        max(line.leave) as last
      from lattice.line(_met.aq, _met.ar, target.q, target.r) as line
    ) as edge
  ),
  cell as materialized (
    select
      goal.i,
      goal.floor,
      goal.ray,
      line.n::integer as n,
      line.kind,
      side.q,
      side.r,
      hex.label,
      hex.terrain,
      hex.level::integer as level,
      line.enter,
      line.leave,
      line.den,
      line.enter > goal.first as begun,
      line.leave < goal.last as goes_on,
      goal.x * line.den + goal.dx * line.enter as x1,
      goal.y * line.den + goal.dy * line.enter as y1,
      goal.x * line.den + goal.dx * line.leave as x2,
      goal.y * line.den + goal.dy * line.leave as y2
    from goal
    cross join lateral lattice.line(_met.aq, _met.ar, goal.q, goal.r) as line
    cross join lateral (values (1, line.q1, line.r1), (2, line.q2, line.r2)) as side (i, q, r)
    left join public.hex
      on hex.map_id = _met.map_id
        and hex.q = side.q
        and hex.r = side.r
    where line.kind in ('hex', 'spine', 'touch')
      and (side.i = 1 or line.kind = 'spine')
  ),
  ground as materialized (
    select distinct
      hex.q,
      hex.r,
      hex.terrain,
      hex.geom
    from cell
    inner join public.hex
      on hex.map_id = _met.map_id
        and hex.q = cell.q
        and hex.r = cell.r
  ),
  -- which artwork has a part in which hex, and whether it covers all of it
  overlap as materialized (
    select
      ground.q,
      ground.r,
      case when area.terrain = 'blaze' then 'blaze' else 'area' end as what,
      area.terrain,
      area.n as area,
      screen.hindrance as value,
      area.geom,
      public.st_covers(area.geom, ground.geom) as covers
    from ground
    inner join public.terrain_area as area
      on area.map_id = _met.map_id
        and public.st_intersects(area.geom, ground.geom)
    inner join ccp._screens() as screen on screen.terrain = area.terrain
    where public.st_relate(area.geom, ground.geom, 'T********')
    union all
    select
      ground.q,
      ground.r,
      'crest',
      null,
      crest.n,
      crest.level::integer,
      crest.geom,
      false
    from ground
    inner join public.crest
      on crest.map_id = _met.map_id
        and public.st_intersects(crest.geom, ground.geom)
    where public.st_relate(crest.geom, ground.geom, 'T********')
  ),
  drawn as materialized (
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      overlap.what,
      overlap.terrain,
      overlap.area,
      overlap.value,
      relation.matrix like '0%' or relation.matrix like '1%' as inside
    from cell
    inner join overlap
      on overlap.q = cell.q
        and overlap.r = cell.r
        and (overlap.what <> 'crest' or overlap.value >= cell.floor)
    cross join lateral (
      select
        public.st_makepoint(cell.x1, cell.y1) as start,
        public.st_makepoint(cell.x2, cell.y2) as finish,
        public.st_scale(overlap.geom, cell.den, cell.den) as geom
      where not (cell.kind = 'hex' and overlap.covers)
        and public.st_intersects(overlap.geom, cell.ray)
      union all
      select
        null,
        null,
        null
      where cell.kind = 'hex'
        and overlap.covers
    ) as blown_up
    cross join lateral (
      select
        case
          when blown_up.geom is null then '1'
          when cell.kind = 'touch' then public.st_relate(blown_up.start, blown_up.geom)
          else public.st_relate(public.st_makeline(blown_up.start, blown_up.finish), blown_up.geom)
        end as matrix
      -- once for each row, not once for each use
      offset 0
    ) as relation
    where relation.matrix not like 'FF%'
      -- an end of the piece counts unless it lies on the side of an end hex
      or (
        relation.matrix not like '___FF%'
        and (
          (cell.begun and public.st_intersects(blown_up.start, blown_up.geom))
          or (cell.goes_on and public.st_intersects(blown_up.finish, blown_up.geom))
        )
      )
  ),
  filled as (
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      cell.terrain,
      screen.hindrance as value,
      cell.kind = 'hex'
      or (cell.kind = 'spine' and count(*) over (partition by cell.i, cell.n, screen.hindrance is null) = 2) as inside
    from cell
    inner join ccp._screens() as screen on screen.terrain = cell.terrain and screen.terrain <> 'blaze'
    where not exists (
      select
      from overlap
      where overlap.q = cell.q
        and overlap.r = cell.r
        and overlap.terrain = cell.terrain
    )
  ),
  marked as (
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      marker.kind,
      max(marker.value)::integer as value,
      bool_and(cell.kind <> 'touch') as inside
    from cell
    inner join public.marker
      on marker.position_id = _met.position_id
        and marker.q = cell.q
        and marker.r = cell.r
        and marker.kind in ('smoke', 'blaze')
    group by cell.i, cell.n, cell.q, cell.r, marker.kind
    union
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      'blaze',
      null,
      cell.kind <> 'touch'
    from cell
    where cell.terrain = 'blaze'
  ),
  hill as (
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      cell.kind = 'hex' or (cell.kind = 'spine' and count(*) over (partition by cell.i, cell.n) = 2) as inside
    from cell
    left join (
      select
        overlap.q,
        overlap.r,
        max(overlap.value) as top
      from overlap
      where overlap.what = 'crest'
      group by overlap.q, overlap.r
    ) as crest
      on crest.q = cell.q
        and crest.r = cell.r
    left join (
      select distinct
        drawn.i,
        drawn.n,
        drawn.q,
        drawn.r
      from drawn
      where drawn.what = 'crest'
    ) as crossed
      on crossed.i = cell.i
        and crossed.n = cell.n
        and crossed.q = cell.q
        and crossed.r = cell.r
    where case
      when crossed.i is not null then false
      -- halfway through, where no crest line is met
      when crest.top >= cell.floor
        then ccp._high(
          _met.map_id, cell.q, cell.r, cell.level, cell.floor,
          cell.x1 + cell.x2, cell.y1 + cell.y2, 2 * cell.den
        )
      else cell.level >= cell.floor
    end
  ),
  thing as (
    select i, n, q, r, what, terrain, area, value, inside from drawn
    union all
    select i, n, q, r, 'fill', terrain, null, value, inside from filled
    union all
    select i, n, q, r, kind, null, null, value, inside from marked
    union all
    select i, n, q, r, 'hill', null, null, null, inside from hill
  )
  select
    cell.i,
    cell.n,
    cell.kind,
    cell.q,
    cell.r,
    cell.label,
    cell.level,
    cell.enter,
    cell.leave,
    cell.den,
    thing.what,
    thing.terrain,
    thing.area,
    thing.value,
    thing.inside
  from cell
  left join thing
    on thing.i = cell.i
      and thing.n = cell.n
      and thing.q = cell.q
      and thing.r = cell.r
$$;

comment on function ccp._met(bigint, bigint, integer, integer, integer[], integer[], integer[]) is
'All that lines meet between their end hexes, a row a thing; ground and crest lines from each line''s floor up.';

create or replace function ccp._way(enter bigint, leave bigint, den bigint)
returns text
language sql immutable parallel safe
return case
  when enter = leave then format('at %s/%s of the way', enter / gcd(enter, den), den / gcd(enter, den))
  else format(
    'from %s/%s to %s/%s of the way',
    enter / gcd(enter, den), den / gcd(enter, den), leave / gcd(leave, den), den / gcd(leave, den)
  )
end;

comment on function ccp._way(bigint, bigint, bigint) is
'Where along the line something lies, as exact fractions of its length.';

create or replace function ccp._thing_name(
  what text, terrain text, area integer, value integer, label text, enter bigint, leave bigint, den bigint
)
returns text
language sql immutable parallel safe
return format(
  '%s in %s, %s',
  case what
    when 'area' then format('%s area %s', replace(terrain, '_', ' '), area)
    when 'fill' then replace(terrain, '_', ' ')
    when 'crest' then format('crest line %s of level %s', area, value)
    when 'hill' then 'higher ground'
    when 'smoke' then format('smoke of %s', value)
    else what
  end,
  label,
  ccp._way(enter, leave, den)
);

comment on function ccp._thing_name(text, text, integer, integer, text, bigint, bigint, bigint) is
'How a ruling names what a line meets: the artwork, its hex, and where along the line that is.';
